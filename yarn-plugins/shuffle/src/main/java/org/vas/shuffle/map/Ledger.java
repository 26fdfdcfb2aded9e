package org.vas.shuffle.map;

import java.io.IOException;
import java.util.List;
import org.vas.shuffle.mof.Segment;

/**
 * Counts the records and bytes that each partition must hold, as they come from the mapper, or from
 * the combiner in its place. Bytes are those of records as IFile stores them.
 */
class Ledger {
  private static final int END_MARKER = 2;

  private final long[] bufferedRecords;
  private final long[] bufferedBytes;
  private final long[] records;
  private final long[] bytes;

  Ledger(int partitions) {
    this.bufferedRecords = new long[partitions];
    this.bufferedBytes = new long[partitions];
    this.records = new long[partitions];
    this.bytes = new long[partitions];
  }

  /** Counts a record that the mapper emitted. */
  void collected(int partition, long recordBytes) {
    bufferedRecords[partition]++;
    bufferedBytes[partition] += recordBytes;
  }

  /** Replaces the records that the combiner took from a partition by those that it emitted. */
  void combined(int partition, long takenRecords, long takenBytes, Combine<?, ?> out) {
    records[partition] += out.records() - takenRecords;
    bytes[partition] += out.bytes() - takenBytes;
  }

  /**
   * Replaces what the mapper emitted since the last run by what the combiner made of it. A combiner
   * may stop early; one that took all it was offered must have taken all that was emitted.
   */
  void combined(int partition, SortedRecords taken, Combine<?, ?> out) {
    boolean all = taken.isEnded();
    combined(partition, all ? taken.records() : bufferedRecords[partition],
        all ? taken.bytes() : bufferedBytes[partition], out);
  }

  /** Ends a run: what the mapper emitted since the last one must be in it. */
  void spilled() {
    for (int i = 0; i < records.length; i++) {
      records[i] += bufferedRecords[i];
      bytes[i] += bufferedBytes[i];
      bufferedRecords[i] = 0;
      bufferedBytes[i] = 0;
    }
  }

  /**
   * Compares the segments that are about to be published with the counts.
   * @throws IOException with the numbers, if a record or a byte is missing or too many
   */
  void check(List<Segment> segments) throws IOException {
    long[] recordsLeft = records.clone();
    long[] bytesLeft = bytes.clone();
    for (Segment each : segments) {
      recordsLeft[each.partition()] -= each.records();
      bytesLeft[each.partition()] -= each.rawBytes() - END_MARKER;
    }
    for (int i = 0; i < records.length; i++) {
      if (recordsLeft[i] != 0 || bytesLeft[i] != 0) {
        throw new IOException("partition " + i + ": " + records[i] + " records in " + bytes[i]
            + " bytes were collected, but " + (records[i] - recordsLeft[i]) + " in "
            + (bytes[i] - bytesLeft[i]) + " were written; nothing is published");
      }
    }
  }
}
