package org.vas.shuffle.map;

import org.vas.shuffle.mof.VInts;

/**
 * Reads the heads (both lengths) of some records of a full buffer before the first record is used:
 * the processor then fetches what is far apart in memory at once, and not one after the other,
 * which is most of the time that reading sorted records takes.
 */
final class Heads {
  /** The largest number of records whose heads are read together. */
  static final int AT_ONCE = 64;

  private final Records records;
  private final int[] keys = new int[AT_ONCE];
  private final int[] keyLengths = new int[AT_ONCE];
  private final int[] valueLengths = new int[AT_ONCE];

  Heads(Records records) {
    this.records = records;
  }

  /**
   * Reads the heads of entries[from, to), or of the first {@link #AT_ONCE}; returns of how many.
   */
  int read(long[] entries, int from, int to) {
    int count = Math.min(AT_ONCE, to - from);
    for (int i = 0; i < count; i++) {
      long place = entries[2 * (from + i) + 1];
      byte[] block = records.block(place);
      int at = Entries.offset(place);
      keyLengths[i] = VInts.get(block, at);
      at += VInts.sizeAt(block, at);
      valueLengths[i] = VInts.get(block, at);
      keys[i] = at + VInts.sizeAt(block, at);
    }
    return count;
  }

  /** Returns the offset in its block of the i-th record's key. */
  int key(int i) {
    return keys[i];
  }

  /** Returns the number of bytes of the i-th record's key. */
  int keyLength(int i) {
    return keyLengths[i];
  }

  /** Returns the number of bytes of the i-th record's value, which stands right behind the key. */
  int valueLength(int i) {
    return valueLengths[i];
  }

  /** Returns the offset in its block behind the i-th record's value. */
  int end(int i) {
    return keys[i] + keyLengths[i] + valueLengths[i];
  }
}
