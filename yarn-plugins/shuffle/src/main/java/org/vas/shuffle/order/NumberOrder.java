package org.vas.shuffle.order;

/** Orders keys that the prefix holds whole. */
abstract class NumberOrder extends KeyOrder {
  @Override
  public final boolean decides(long prefix) {
    return true;
  }

  @Override
  public final int compareTied(byte[] left, int leftOffset, int leftLength,
      byte[] right, int rightOffset, int rightLength) {
    return 0;
  }
}
