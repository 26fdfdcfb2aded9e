package org.vas.layout;

import java.util.function.Consumer;

/** Passes the owners of a byte range to a sink in order; neighbours on one OST become one run. */
final class RunBuilder {
  private final Consumer<StripeRun> sink;
  private final long end;
  private long start;
  private long position;
  private int ostIndex = StripeRun.UNKNOWN;

  RunBuilder(long offset, long length, Consumer<StripeRun> sink) {
    this.sink = sink;
    this.start = offset;
    this.position = offset;
    this.end = endOf(offset, length);
  }

  /**
   * Returns the first byte after a range, at most {@link Long#MAX_VALUE}.
   *
   * @throws IllegalArgumentException if offset or length is negative
   */
  static long endOf(long offset, long length) {
    if (offset < 0 || length < 0) {
      throw new IllegalArgumentException("negative range: " + offset + " + " + length);
    }
    return length > Long.MAX_VALUE - offset ? Long.MAX_VALUE : offset + length;
  }

  /** Returns the first byte that has no owner yet. */
  long position() {
    return position;
  }

  /** Returns the first byte after the range, counted from the start of the file. */
  long end() {
    return end;
  }

  /** Assigns the bytes from the position up to {@code newPosition} to an OST. */
  void upTo(long newPosition, int owner) {
    if (newPosition <= position) {
      return;
    }
    if (owner != ostIndex) {
      flush();
      ostIndex = owner;
    }
    position = newPosition;
  }

  /** Assigns the rest of the range to no known OST, and passes the last run to the sink. */
  void finish() {
    upTo(end, StripeRun.UNKNOWN);
    flush();
  }

  private void flush() {
    if (position > start) {
      sink.accept(new StripeRun(start, position - start, ostIndex));
      start = position;
    }
  }
}
