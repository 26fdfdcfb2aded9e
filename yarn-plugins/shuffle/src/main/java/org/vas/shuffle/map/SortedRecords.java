package org.vas.shuffle.map;

import org.vas.shuffle.RawRecords;

/** The records of one partition of a sorted buffer, for a combiner. */
final class SortedRecords extends RawRecords {
  private final long[] entries;
  private final Records buffer;
  private final int end;
  private final Heads heads;
  private int current;
  private int first;
  private int fetched;
  private long records;
  private long bytes;

  /** Iterates over the records of entries[from, to); both are counted in entries. */
  SortedRecords(long[] entries, int from, int to, Records buffer) {
    this.entries = entries;
    this.buffer = buffer;
    this.heads = new Heads(buffer);
    this.current = from - 1;
    this.first = from;
    this.end = to;
  }

  @Override
  public boolean next() {
    if (++current >= end) {
      return false;
    }
    if (current >= first + fetched) {
      first = current;
      fetched = heads.read(entries, current, end);
    }
    int i = current - first;
    long place = entries[2 * current + 1];
    show(buffer.block(place), heads.key(i), heads.keyLength(i), heads.valueLength(i));
    records++;
    bytes += heads.end(i) - Entries.offset(place);
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

  /** Returns how many bytes the combiner has taken, as IFile stores them. */
  long bytes() {
    return bytes;
  }

  @Override
  public void close() {}
}
