package org.apache.spark.shuffle.vas;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.vas.shuffle.mof.Segment;

/**
 * Places and checksums of the blocks of some neighbouring partitions of a map output, as a reader
 * needs them. A block is 64 KiB, or the rest of its partition.
 */
final class BlockPlan {
  private final long offset;
  private final int[] lengths;
  private final int[] checksums;
  private final long bytes;

  private BlockPlan(long offset, int[] lengths, int[] checksums) {
    this.offset = offset;
    this.lengths = lengths;
    this.checksums = checksums;
    this.bytes = Arrays.stream(lengths).asLongStream().sum();
  }

  /** Returns the offset of the first byte in the data file. */
  long offset() {
    return offset;
  }

  /** Returns the number of bytes of all blocks. */
  long bytes() {
    return bytes;
  }

  /** Returns the number of blocks. */
  int blocks() {
    return lengths.length;
  }

  /** Returns the bytes of one block. */
  int length(int block) {
    return lengths[block];
  }

  /** Returns whether the bytes at an offset of an array are those that the map wrote. */
  boolean isIntact(int block, byte[] array, int from) {
    return MapIndex.crc(array, from, lengths[block]) == checksums[block];
  }

  /**
   * Reads the plan of the partitions from {@code start} on and before {@code end}.
   *
   * @throws IOException if the index cannot be read, or is not what the map wrote
   */
  static BlockPlan read(IndexSource source, int shuffle, long taskAttempt, int start, int end)
      throws IOException {
    MapIndex index = MapIndex.header(source.bytes(0, MapIndex.HEADER), shuffle, taskAttempt);
    MapIndex.require(start >= 0 && start < end && end <= index.partitions(),
        "has " + index.partitions() + " partitions; asked for " + start + " to " + end);
    byte[] bytes = source.bytes(
        MapIndex.recordAt(start), Math.multiplyExact(end - start, MapIndex.RECORD));
    MapIndex.PartitionRecord[] records = new MapIndex.PartitionRecord[end - start];
    for (int i = 0; i < records.length; i++) {
      records[i] = index.record(bytes, i * MapIndex.RECORD, start + i);
      MapIndex.require(i == 0 || records[i - 1].isFollowedBy(records[i]),
          "has a gap before partition " + (start + i));
    }
    return of(records, source, index);
  }

  private static BlockPlan of(MapIndex.PartitionRecord[] records, IndexSource source, MapIndex index)
      throws IOException {
    int count = Math.toIntExact(Arrays.stream(records).mapToLong(each -> each.count()).sum());
    byte[] sums = source.bytes(
        index.checksumAt(records[0].first), Math.multiplyExact(count, MapIndex.CHECKSUM));
    int[] lengths = new int[count];
    int[] checksums = new int[count];
    int block = 0;
    for (MapIndex.PartitionRecord each : records) {
      int own = (int) each.count();
      MapIndex.require(each.sumOfChecksums
          == MapIndex.crc(sums, block * MapIndex.CHECKSUM, own * MapIndex.CHECKSUM),
          "has changed checksums");
      long left = each.length;
      for (int i = 0; i < own; i++, block++) {
        lengths[block] = (int) Math.min(left, Segment.CHECKSUM_BYTES);
        checksums[block] = ByteBuffer.wrap(sums).getInt(block * MapIndex.CHECKSUM);
        left -= lengths[block];
      }
    }
    return new BlockPlan(records[0].offset, lengths, checksums);
  }
}
