package org.vas.layout;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The layout of one file: where its bytes lie, as its attribute {@code lustre.lov} tells.
 * Implementations are {@link PlainLayout}, {@link CompositeLayout} and {@link ForeignLayout}.
 */
public interface StripeLayout {
  /**
   * Reads the bytes of a {@code lustre.lov} extended attribute.
   *
   * @throws LayoutException when they are not a layout; nothing else is ever thrown
   */
  static StripeLayout decode(byte[] bytes) throws LayoutException {
    return LayoutDecoder.decode(bytes);
  }

  /**
   * Tells the owners of a byte range, in order, without gaps; neighbours on one OST are one run.
   *
   * @param offset first byte
   * @param length bytes; none gives no run
   * @param sink gets the runs one by one, however many they are
   */
  void forEachRun(long offset, long length, Consumer<StripeRun> sink);

  /**
   * Tells how many bytes of a range each OST holds. An OST may be told several times; bytes that
   * no known OST holds are told as {@link StripeRun#UNKNOWN}. The time depends on the number of
   * objects, and never on that of stripes.
   *
   * @param offset first byte
   * @param length bytes; none gives no share
   */
  void forEachShare(long offset, long length, ShareSink sink);

  /** Receives how much of a byte range one OST holds. */
  @FunctionalInterface
  interface ShareSink {
    void add(int ostIndex, long bytes);
  }

  /** Returns the owners of a byte range as a list; see {@link #forEachRun}. */
  default List<StripeRun> ownersOf(long offset, long length) {
    List<StripeRun> runs = new ArrayList<>();
    forEachRun(offset, length, runs::add);
    return List.copyOf(runs);
  }

  /** Returns the owners of a whole file of {@code length} bytes. */
  default List<StripeRun> extents(long length) {
    return ownersOf(0, length);
  }

  /** Returns the striping in force at a byte: of a composite layout, that of a component there. */
  Optional<PlainLayout> at(long offset);
}
