package org.apache.spark.shuffle.vas;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.vas.shuffle.mof.Segment;

/**
 * The index of one map output: where each partition lies in the data file, and the checksum of each
 * 64 KiB of it. Version 1, big-endian; every part has a CRC32C of its own, so that a reader of a few
 * partitions reads and checks the header, their records and their checksums, and nothing else:
 *
 * <pre>
 * header, 64 bytes: "VASR", version (u8) and three zeros, shuffle (i32), partitions (i32),
 *   task attempt (i64), bytes of the data file (i64), checksums (i64), zeros, CRC32C (u32)
 * a record for each partition, 32 bytes: partition (i32), its first checksum (i32), offset (i64),
 *   length (i64), CRC32C of its checksums (u32), CRC32C of the record before it (u32)
 * checksums, 4 bytes each: of each 64 KiB of a partition, from its first byte on
 * </pre>
 *
 * <p>It is not the manifest of MapReduce's map output (docs/manifest.md): that one names attempts
 * of MapReduce, has runs, records and sizes before compression, which Spark's streams do not tell,
 * and a block of its own for each partition. Spark asks for ranges of neighbouring partitions at
 * once, and those are one read here.
 */
final class MapIndex {
  static final int HEADER = 64;
  static final int RECORD = 32;
  static final int CHECKSUM = Integer.BYTES;
  static final int MAGIC = 0x56415352;
  static final byte VERSION = 1;

  private static final int BODY = HEADER - CHECKSUM;

  private final int partitions;
  private final long dataBytes;
  private final long checksums;

  private MapIndex(int partitions, long dataBytes, long checksums) {
    this.partitions = partitions;
    this.dataBytes = dataBytes;
    this.checksums = checksums;
  }

  /**
   * Returns the bytes of an index.
   *
   * @param lengths bytes of each partition, which lie in the data file one after another
   * @param sums checksums of each partition's blocks; null for a partition without bytes
   */
  static byte[] encode(int shuffle, long taskAttempt, long[] lengths, int[][] sums)
      throws IOException {
    long bytes = 0;
    int first = 0;
    ByteArrayOutputStream all = new ByteArrayOutputStream(HEADER + lengths.length * RECORD);
    DataOutputStream tail = new DataOutputStream(all);
    ByteArrayOutputStream sumBytes = new ByteArrayOutputStream();
    for (int i = 0; i < lengths.length; i++) {
      byte[] own = bytes(sums[i]);
      tail.write(record(i, first, bytes, lengths[i], own));
      sumBytes.write(own);
      first = Math.addExact(first, own.length / CHECKSUM);
      bytes += lengths[i];
    }
    sumBytes.writeTo(tail);
    ByteBuffer header = ByteBuffer.allocate(HEADER);
    header.putInt(MAGIC).put(VERSION).put(new byte[3]).putInt(shuffle).putInt(lengths.length)
        .putLong(taskAttempt).putLong(bytes).putLong(first);
    header.putInt(BODY, crc(header.array(), 0, BODY));
    ByteArrayOutputStream whole = new ByteArrayOutputStream(HEADER + all.size());
    whole.write(header.array());
    all.writeTo(whole);
    return whole.toByteArray();
  }

  private static byte[] record(int partition, int first, long offset, long length, byte[] sums) {
    ByteBuffer record = ByteBuffer.allocate(RECORD);
    record.putInt(partition).putInt(first).putLong(offset).putLong(length)
        .putInt(crc(sums, 0, sums.length));
    return record.putInt(crc(record.array(), 0, RECORD - CHECKSUM)).array();
  }

  private static byte[] bytes(int[] sums) {
    ByteBuffer out = ByteBuffer.allocate(sums == null ? 0 : sums.length * CHECKSUM);
    for (int i = 0; sums != null && i < sums.length; i++) {
      out.putInt(sums[i]);
    }
    return out.array();
  }

  /**
   * Reads the header of an index.
   *
   * @throws BadIndexException that says what is wrong, if these are not the first bytes of the index of
   *     this map output
   */
  static MapIndex header(byte[] bytes, int shuffle, long taskAttempt) throws BadIndexException {
    require(bytes.length >= HEADER, "is shorter than its header");
    ByteBuffer in = ByteBuffer.wrap(bytes);
    require(in.getInt(BODY) == crc(bytes, 0, BODY), "has a wrong checksum of its header");
    require(in.getInt() == MAGIC, "is not an index of VAS");
    byte version = in.get();
    require(version == VERSION, "is of version " + version + ", known is " + VERSION);
    in.position(in.position() + 3);
    int foundShuffle = in.getInt();
    int partitions = in.getInt();
    long foundAttempt = in.getLong();
    require(foundShuffle == shuffle && foundAttempt == taskAttempt, "is that of shuffle "
        + foundShuffle + ", task attempt " + foundAttempt);
    return new MapIndex(partitions, in.getLong(), in.getLong());
  }

  /** Returns the number of partitions of the shuffle. */
  int partitions() {
    return partitions;
  }

  /** Returns the length of the data file in bytes. */
  long dataBytes() {
    return dataBytes;
  }

  /** Returns the offset in the index of a partition's record. */
  static long recordAt(int partition) {
    return HEADER + (long) partition * RECORD;
  }

  /** Returns the offset in the index of a checksum. */
  long checksumAt(int number) {
    return recordAt(partitions) + (long) number * CHECKSUM;
  }

  /**
   * Reads the record of one partition.
   *
   * @param bytes records, one after another
   * @param at where the record starts in them
   * @throws BadIndexException that says what is wrong with it
   */
  PartitionRecord record(byte[] bytes, int at, int partition) throws BadIndexException {
    ByteBuffer in = ByteBuffer.wrap(bytes, at, RECORD);
    require(ByteBuffer.wrap(bytes).getInt(at + RECORD - CHECKSUM)
        == crc(bytes, at, RECORD - CHECKSUM), "has a wrong checksum of partition " + partition);
    int found = in.getInt();
    require(found == partition, "has partition " + found + " in place of " + partition);
    PartitionRecord record =
        new PartitionRecord(in.getInt(), in.getLong(), in.getLong(), in.getInt());
    require(record.first >= 0 && record.offset >= 0 && record.length >= 0
        && record.offset + record.length <= dataBytes
        && record.first + record.count() <= checksums, "has impossible numbers");
    return record;
  }

  /** Returns the CRC32C of some bytes. */
  static int crc(byte[] bytes, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from, length);
    return (int) crc.getValue();
  }

  /** Throws an exception with this message, unless the condition holds. */
  static void require(boolean holds, String otherwise) throws BadIndexException {
    if (!holds) {
      throw new BadIndexException("the index " + otherwise);
    }
  }

  /** The place of one partition, and of its checksums. */
  static final class PartitionRecord {
    /** The number of the partition's first checksum. */
    final int first;
    /** The offset of the partition's first byte in the data file. */
    final long offset;
    /** Bytes of the partition. */
    final long length;
    /** The CRC32C of the partition's checksums. */
    final int sumOfChecksums;

    PartitionRecord(int first, long offset, long length, int sumOfChecksums) {
      this.first = first;
      this.offset = offset;
      this.length = length;
      this.sumOfChecksums = sumOfChecksums;
    }

    /** Returns whether another partition's bytes and checksums start where this one's end. */
    boolean isFollowedBy(PartitionRecord next) {
      return next.offset == offset + length && next.first == first + count();
    }

    /** Returns the number of the partition's checksums. */
    long count() {
      return (length + Segment.CHECKSUM_BYTES - 1) / Segment.CHECKSUM_BYTES;
    }
  }
}
