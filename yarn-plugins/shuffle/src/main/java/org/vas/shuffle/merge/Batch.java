package org.vas.shuffle.merge;

/** Records on their way from the merge to reduce(): their bytes one after the other. */
final class Batch {
  // A record takes two ends; smaller ones than this many bytes make a batch full early.
  private static final int BYTES_PER_RECORD = 16;

  private final int size;
  private final int[] ends;
  private byte[] data;
  private int records;
  private int used;
  private long rawBytes;

  Batch(int size) {
    this.size = size;
    this.data = new byte[size];
    this.ends = new int[2 * Math.max(1, size / BYTES_PER_RECORD)];
  }

  /** Returns the number of bytes that a batch of a size takes. */
  static long memory(int size) {
    return size + 2L * Integer.BYTES * Math.max(1, size / BYTES_PER_RECORD);
  }

  /** Copies the record; returns false if there is no room. */
  boolean add(byte[] source, int offset, int keyLength, int valueLength) {
    int length = keyLength + valueLength;
    if (length > data.length - used || 2 * records == ends.length) {
      return false;
    }
    System.arraycopy(source, offset, data, used, length);
    int at = 2 * records;
    ends[at] = used + keyLength;
    used += length;
    ends[at + 1] = used;
    records++;
    rawBytes += RawSize.of(keyLength, valueLength);
    return true;
  }

  /** Makes room for one record that is larger than an empty batch. */
  void grow(int length) {
    data = new byte[length];
  }

  /** Removes the records; returns whether that gave back the memory of a large one. */
  boolean clear() {
    records = 0;
    used = 0;
    rawBytes = 0;
    boolean grown = data.length > size;
    if (grown) {
      data = new byte[size];
    }
    return grown;
  }

  byte[] data() {
    return data;
  }

  /** Returns the ends of keys and values in turn, as offsets in the batch's bytes. */
  int[] ends() {
    return ends;
  }

  int records() {
    return records;
  }

  /** Returns the number of bytes of the records as IFile has them. */
  long rawBytes() {
    return rawBytes;
  }
}
