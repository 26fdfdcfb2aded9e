package org.vas.workloads.fetch;

import java.util.Locale;

/**
 * Counts records and their bytes and adds them up, the same in any order of records: tells a whole
 * fetch from one that lost or doubled a record. It reads few bytes of each record, since both
 * systems check all of them.
 */
final class RecordSum {
  private static final int FEWEST = Long.BYTES;

  private long records;
  private long bytes;
  private long sum;

  /**
   * Adds a record whose serialized key and value have at least 8 bytes each.
   * @throws IllegalArgumentException for a shorter one
   */
  void add(byte[] key, int keyStart, int keyLength, byte[] value, int valueStart,
      int valueLength) {
    if (keyLength < FEWEST || valueLength < FEWEST) {
      throw new IllegalArgumentException(
          "a record of " + keyLength + " and " + valueLength + " bytes: the benchmark wrote none");
    }
    records++;
    bytes += keyLength + valueLength;
    long first = word(key, keyStart + keyLength - FEWEST);
    sum += first * 31 + word(value, valueStart + valueLength - FEWEST);
  }

  private static long word(byte[] bytes, int at) {
    long word = 0;
    for (int i = at; i < at + FEWEST; i++) {
      word = word << Byte.SIZE | (bytes[i] & 0xff);
    }
    return word;
  }

  /** Returns the numbers as fields of a JSON object, without its braces. */
  String json() {
    return String.format(
        Locale.ROOT, "\"records\": %d, \"bytes\": %d, \"sum\": \"%016x\"", records, bytes, sum);
  }
}
