package org.vas.shuffle.order;

import org.apache.hadoop.io.RawComparator;

/** Orders keys by a comparator that nothing is known about. */
final class ComparatorOrder extends KeyOrder {
  private final RawComparator<?> comparator;

  ComparatorOrder(RawComparator<?> comparator) {
    this.comparator = comparator;
  }

  @Override
  public boolean isKnown() {
    return false;
  }

  @Override
  public int shortestKey() {
    return 0;
  }

  @Override
  public long prefix(byte[] bytes, int offset, int length) {
    return 0;
  }

  @Override
  public boolean decides(long prefix) {
    return false;
  }

  @Override
  public int compareTied(byte[] left, int leftOffset, int leftLength,
      byte[] right, int rightOffset, int rightLength) {
    return comparator.compare(
        left, leftOffset, leftLength, right, rightOffset, rightLength);
  }
}
