package org.vas.shuffle.order;

import java.util.Arrays;

/**
 * Orders keys that are a header of some bytes and then a content, compared as unsigned bytes.
 *
 * <p>A prefix is the first 7 bytes of the content, the missing ones as zeros, and then the length
 * of the content, or 8 if it is longer than 7: of two that differ by zeros at the end, the shorter
 * one comes first. So a content of 1 to 7 bytes is known by its prefix.
 */
abstract class ContentOrder extends KeyOrder {
  /** Returns the number of bytes before the content. */
  abstract int header(byte[] bytes, int offset);

  @Override
  public final long prefix(byte[] bytes, int offset, int length) {
    return prefixBehind(bytes, offset, length, 0);
  }

  @Override
  public final long prefixBehind(byte[] bytes, int offset, int length, int shared) {
    int before = header(bytes, offset) + shared;
    int left = length - before;
    if (left >= Long.BYTES) {
      return (first8(bytes, offset + before, Long.BYTES) & -1L << Byte.SIZE) | Long.BYTES;
    }
    return first8(bytes, offset + before, left) | Math.max(0, left);
  }

  @Override
  public final boolean goesOn(long prefix) {
    return (prefix & 0xff) == Long.BYTES;
  }

  // A length of 0 is also that of a key shorter than its header, of which stock compares lengths.
  @Override
  public final boolean decides(long prefix) {
    long length = prefix & 0xff;
    return length > 0 && length < Long.BYTES;
  }

  @Override
  public final int compareTied(byte[] left, int leftOffset, int leftLength,
      byte[] right, int rightOffset, int rightLength) {
    int leftHeader = header(left, leftOffset);
    int rightHeader = header(right, rightOffset);
    int leftContent = leftLength - leftHeader;
    int rightContent = rightLength - rightHeader;
    if (leftContent < Long.BYTES || rightContent < Long.BYTES) {
      return Integer.compare(leftContent, rightContent);
    }
    return Arrays.compareUnsigned(
        left, leftOffset + leftHeader + PREFIX_CONTENT, leftOffset + leftLength,
        right, rightOffset + rightHeader + PREFIX_CONTENT, rightOffset + rightLength);
  }
}
