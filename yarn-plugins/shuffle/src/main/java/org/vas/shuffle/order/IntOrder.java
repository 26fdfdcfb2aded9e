package org.vas.shuffle.order;

/** Orders serialised IntWritables: 4 bytes with a sign. */
final class IntOrder extends NumberOrder {
  @Override
  public int shortestKey() {
    return Integer.BYTES;
  }

  @Override
  public long prefix(byte[] bytes, int offset, int length) {
    return first8(bytes, offset, Integer.BYTES) ^ Long.MIN_VALUE;
  }
}
