package org.vas.shuffle.order;

/** Orders serialised NullWritables: no bytes, and all equal. */
final class NullOrder extends NumberOrder {
  @Override
  public int shortestKey() {
    return 0;
  }

  @Override
  public long prefix(byte[] bytes, int offset, int length) {
    return 0;
  }
}
