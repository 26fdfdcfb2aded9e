package org.vas.shuffle.map;

import org.vas.shuffle.RawRecords;
import org.vas.shuffle.mof.VInts;

/** The records of one partition of a sorted buffer, for a combiner. */
final class SortedRecords extends RawRecords {
  private final long[] entries;
  private final Records buffer;
  private final int end;
  private int current;
  private long records;
  private long bytes;

  /** Iterates over the records of entries[from, to); both are counted in entries. */
  SortedRecords(long[] entries, int from, int to, Records buffer) {
    this.entries = entries;
    this.buffer = buffer;
    this.current = from - 1;
    this.end = to;
  }

  @Override
  public boolean next() {
    if (++current >= end) {
      return false;
    }
    long place = entries[2 * current + 1];
    byte[] block = buffer.block(place);
    int at = Entries.offset(place);
    int keyLength = VInts.get(block, at);
    at += VInts.sizeAt(block, at);
    int valueLength = VInts.get(block, at);
    at += VInts.sizeAt(block, at);
    show(block, at, keyLength, valueLength);
    records++;
    bytes += at + keyLength + valueLength - Entries.offset(place);
    return true;
  }

  /** Returns whether the combiner has taken all records of the partition. */
  boolean isEnded() {
    return current >= end;
  }

  /** Returns how many records of the partition the combiner has taken. */
  long records() {
    return records;
  }

  /** Returns how many bytes were taken, as IFile stores them. */
  long bytes() {
    return bytes;
  }

  @Override
  public void close() {}
}
