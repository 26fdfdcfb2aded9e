package org.vas.shuffle.order;

/** Orders serialised LongWritables: 8 bytes with a sign. */
final class LongOrder extends NumberOrder {
  @Override
  public int shortestKey() {
    return Long.BYTES;
  }

  @Override
  public long prefix(byte[] bytes, int offset, int length) {
    return first8(bytes, offset, Long.BYTES) ^ Long.MIN_VALUE;
  }
}
