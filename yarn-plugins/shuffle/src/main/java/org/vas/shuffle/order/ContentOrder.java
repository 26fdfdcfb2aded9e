package org.vas.shuffle.order;

import java.util.Arrays;

/** Keys that are a header of some bytes and then a content, compared as unsigned bytes. */
abstract class ContentOrder extends KeyOrder {
  /** Returns the number of bytes before the content. */
  abstract int header(byte[] bytes, int offset);

  @Override
  public final long prefix(byte[] bytes, int offset, int length) {
    int header = header(bytes, offset);
    return first8(bytes, offset + header, length - header);
  }

  @Override
  public final boolean decides() {
    return false;
  }

  // Of two contents with one prefix, one that the prefix holds whole can only differ by zeros that
  // the other has more: the shorter one comes first.
  @Override
  public final int compareTied(byte[] left, int leftOffset, int leftLength,
      byte[] right, int rightOffset, int rightLength) {
    int leftHeader = header(left, leftOffset);
    int rightHeader = header(right, rightOffset);
    int leftContent = leftLength - leftHeader;
    int rightContent = rightLength - rightHeader;
    if (leftContent <= Long.BYTES || rightContent <= Long.BYTES) {
      return Integer.compare(leftContent, rightContent);
    }
    return Arrays.compareUnsigned(
        left, leftOffset + leftHeader + Long.BYTES, leftOffset + leftLength,
        right, rightOffset + rightHeader + Long.BYTES, rightOffset + rightLength);
  }
}
