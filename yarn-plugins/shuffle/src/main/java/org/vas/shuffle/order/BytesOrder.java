package org.vas.shuffle.order;

/** Orders serialised BytesWritables: the length as an int, then the bytes. */
final class BytesOrder extends ContentOrder {
  @Override
  public int shortestKey() {
    return Integer.BYTES;
  }

  @Override
  int header(byte[] bytes, int offset) {
    return Integer.BYTES;
  }
}
