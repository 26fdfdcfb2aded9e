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
   * Passes the owners of a byte range to a sink, in order and without gaps; neighbours on one OST
   * are one run.
   *
   * @param offset first byte
   * @param length bytes; 0 gives no run
   * @param sink gets one run at a time
   * @throws IllegalArgumentException if offset or length is negative
   */
  void forEachRun(long offset, long length, Consumer<StripeRun> sink);

  /**
   * Tells a sink how many bytes of a range each OST holds. It may name an OST several times; bytes
   * that no known OST holds count for {@link StripeRun#UNKNOWN}. The time depends on the number of
   * objects, and never on that of stripes.
   *
   * @param offset first byte
   * @param length bytes; 0 gives no share
   * @throws IllegalArgumentException if offset or length is negative
   */
  void forEachShare(long offset, long length, ShareSink sink);

  /** Receives how much of a byte range one OST holds. */
  @FunctionalInterface
  interface ShareSink {
    void add(int ostIndex, long bytes);
  }

  /** Returns the owners of a byte range as a list, as {@link #forEachRun} gives them. */
  default List<StripeRun> ownersOf(long offset, long length) {
    List<StripeRun> runs = new ArrayList<>();
    forEachRun(offset, length, runs::add);
    return List.copyOf(runs);
  }

  /** Returns the owners of a whole file of {@code length} bytes. */
  default List<StripeRun> extents(long length) {
    return ownersOf(0, length);
  }

  /**
   * Returns the striping in force at a byte; empty where there is none. In a composite layout it is
   * that of the component to read the byte from.
   */
  Optional<PlainLayout> at(long offset);
}
