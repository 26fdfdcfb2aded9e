package org.vas.shuffle.mof;

import org.apache.hadoop.io.WritableUtils;

/** The lengths in front of a record, as Hadoop writes ints of variable size; none is negative. */
public final class VInts {
  private VInts() {}

  /** Returns the number of bytes that the length takes as a vint. */
  public static int size(int length) {
    return length < 128 ? 1 : WritableUtils.getVIntSize(length);
  }

  /** Returns the number of bytes of the vint that starts at an offset. */
  public static int sizeAt(byte[] bytes, int offset) {
    byte first = bytes[offset];
    return first >= 0 ? 1 : WritableUtils.decodeVIntSize(first);
  }

  /** Returns the length that is stored as a vint at an offset. */
  public static int get(byte[] bytes, int offset) {
    byte first = bytes[offset];
    return first >= 0 ? first : getLong(bytes, offset);
  }

  /** Writes a length; returns the offset behind it. */
  public static int put(byte[] bytes, int offset, int length) {
    if (length < 128) {
      bytes[offset] = (byte) length;
      return offset + 1;
    }
    int size = WritableUtils.getVIntSize(length);
    bytes[offset] = (byte) (-111 - size);
    for (int i = size - 1, rest = length; i > 0; i--, rest >>>= 8) {
      bytes[offset + i] = (byte) rest;
    }
    return offset + size;
  }

  private static int getLong(byte[] bytes, int offset) {
    int value = 0;
    for (int i = 1, size = WritableUtils.decodeVIntSize(bytes[offset]); i < size; i++) {
      value = (value << 8) | (bytes[offset + i] & 0xff);
    }
    return value;
  }
}
