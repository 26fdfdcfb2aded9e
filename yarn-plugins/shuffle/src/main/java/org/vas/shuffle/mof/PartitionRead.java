package org.vas.shuffle.mof;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;

/**
 * Reads the part of an open manifest that one reducer needs: its index record and its block. In a
 * job of few partitions both are among the first bytes, and are read at once. A manifest that has
 * no more than these first bytes is verified whole; one of version 1 is read and verified whole.
 */
final class PartitionRead {
  /** The most bytes that are read before it is known how many are needed. */
  static final int FIRST = 4 << 10;

  // Up to so many bytes of index, 31 partitions, small blocks are likely to be among the first.
  private static final int SMALL_INDEX = 1 << 10;
  private static final int LARGEST_V1 = 1 << 30;
  private static final int PART = 64 << 10;
  private static final long LAST_OFFSET = 1L << 40;

  private final FSDataInputStream in;
  private final Path file;
  private final CallWatch watch;
  private final long memory;
  private byte[] first = {};

  /**
   * Makes a reader for one open manifest; reads nothing yet.
   * @param memory bytes that the block and its segments may take together
   */
  PartitionRead(FSDataInputStream in, Path file, CallWatch watch, long memory) {
    this.in = in;
    this.file = file;
    this.watch = watch;
    this.memory = memory;
  }

  /**
   * Returns the manifest as the reader of one partition sees it.
   *
   * @param partitions the job's number of reducers
   * @throws ManifestException that says what is wrong with it
   * @throws ManifestTooLargeException if it needs more memory than there is
   */
  Manifest manifest(int partitions, int partition) throws IOException {
    long place = IndexRecord.place(partition);
    boolean small = IndexRecord.place(partitions) <= SMALL_INDEX;
    if (small) {
      first = read(0, FIRST);
      if (first.length < FIRST) {
        return ManifestFormat.decode(first).only(partition);
      }
    }
    byte[] record = small ? slice(place, IndexRecord.BYTES) : read(place, IndexRecord.BYTES);
    if (!IndexRecord.isWhole(record, 0) || (small && !isVersion2())) {
      return withoutRecord(partition);
    }
    IndexRecord found = IndexRecord.read(record, 0, partition);
    byte[] block = block(found, partitions, IndexRecord.name(partition));
    ManifestBlock decoded = ManifestBlock.decode(
        block, 0, block.length, IndexRecord.name(partition), memory);
    decoded.check(partition);
    return ManifestBytes.decoding(() -> decoded.manifest(found.flags()));
  }

  private boolean isVersion2() throws ManifestException {
    return ManifestBytes.version(first, first.length) == ManifestV2.VERSION;
  }

  // What is there says why: another version, another file, or damage.
  private Manifest withoutRecord(int partition) throws IOException {
    byte[] prefix = first.length > 0 ? first : read(0, IndexRecord.PREFIX);
    int version = ManifestBytes.version(prefix, prefix.length);
    switch (version) {
      case ManifestV1.VERSION:
        return ManifestV1.decode(whole(), partition);
      case ManifestV2.VERSION:
        throw new ManifestException(
            IndexRecord.name(partition) + ": wrong checksum of its index record");
      default:
        throw ManifestFormat.unknown(version);
    }
  }

  private byte[] block(IndexRecord record, int partitions, String name) throws IOException {
    int length = record.length();
    if (length < ManifestBlock.SMALLEST || record.offset() < IndexRecord.place(partitions)
        || record.offset() > LAST_OFFSET) {
      throw new ManifestException(
          name + ": no block at " + record.offset() + " of " + length + " bytes");
    }
    byte[] found = slice(record.offset(), length);
    if (found.length < length) {
      checkSize(record, name);
      found = read(record.offset(), length);
    }
    if (found.length < length) {
      throw cut(record, name);
    }
    return found;
  }

  // A length that is a lie is the map's fault; a true one is not.
  private void checkSize(IndexRecord record, String name) throws IOException {
    if (record.length() > memory) {
      if (read(record.offset() + record.length() - 1, 1).length == 0) {
        throw cut(record, name);
      }
      ManifestTooLargeException.check(name, record.length(), memory);
    }
  }

  private static ManifestException cut(IndexRecord record, String name) {
    return new ManifestException(name + ": the manifest ends before offset "
        + (record.offset() + record.length()));
  }

  /** Returns those of these bytes that are among the first. */
  private byte[] slice(long offset, int length) {
    int from = (int) Math.min(first.length, offset);
    return Arrays.copyOfRange(first, from, (int) Math.min(first.length, (long) from + length));
  }

  /** Reads so many bytes, or fewer where the file ends. */
  private byte[] read(long offset, int length) throws IOException {
    byte[] bytes = new byte[length];
    int used = 0;
    int count = 0;
    while (used < length && count >= 0) {
      watch.calling(file);
      count = in.read(offset + used, bytes, used, length - used);
      used += Math.max(0, count);
    }
    return used == length ? bytes : Arrays.copyOf(bytes, used);
  }

  private byte[] whole() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(first);
    byte[] part = first;
    while ((part.length > 0 || all.size() == 0) && all.size() < LARGEST_V1) {
      part = read(all.size(), PART);
      all.writeBytes(part);
    }
    return all.toByteArray();
  }
}
