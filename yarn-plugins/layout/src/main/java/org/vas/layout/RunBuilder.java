package org.vas.layout;

import java.util.ArrayList;
import java.util.List;

/** Collects the owners of a byte range in order, joining neighbours on one OST. */
final class RunBuilder {
  private final List<StripeRun> done = new ArrayList<>();
  private final long end;
  private long start;
  private long position;
  private int ostIndex;

  RunBuilder(long offset, long length) {
    if (offset < 0 || length < 0) {
      throw new IllegalArgumentException("negative range: " + offset + " + " + length);
    }
    this.start = offset;
    this.position = offset;
    this.end = length > Long.MAX_VALUE - offset ? Long.MAX_VALUE : offset + length;
  }

  long position() {
    return position;
  }

  long end() {
    return end;
  }

  /** The bytes from the position up to {@code newPosition} belong to the OST. */
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

  List<StripeRun> build() {
    flush();
    return List.copyOf(done);
  }

  private void flush() {
    if (position > start) {
      done.add(new StripeRun(start, position - start, ostIndex));
      start = position;
    }
  }
}
