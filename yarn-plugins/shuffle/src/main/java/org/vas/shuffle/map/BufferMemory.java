package org.vas.shuffle.map;

/** Counts the memory of one collector, in bytes. */
final class BufferMemory {
  private final long limit;
  private long used;

  BufferMemory(long limit) {
    this.limit = limit;
  }

  /** Takes these bytes if they are free; returns whether it did. */
  boolean take(long bytes) {
    if (bytes > free()) {
      return false;
    }
    used += bytes;
    return true;
  }

  /** Takes these bytes beyond the limit, for one record that is larger. */
  void takeOver(long bytes) {
    used += bytes;
  }

  void give(long bytes) {
    used -= bytes;
  }

  long free() {
    return limit - used;
  }

  boolean isExceeded() {
    return used > limit;
  }
}
