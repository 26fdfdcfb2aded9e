package org.vas.shuffle.mof;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Decodes a whole manifest of version 2: an index with a record for each partition, a block for each
 * that has records, and a last checksum over all of it. Every byte is accounted for.
 */
final class ManifestV2 {
  static final int VERSION = 2;

  private final byte[] bytes;
  private final int body;
  private final List<Segment> segments = new ArrayList<>();
  private ManifestBlock summary;
  private int flags;
  private IndexRecord shared;
  private long end;

  private ManifestV2(byte[] bytes) {
    this.bytes = bytes;
    this.body = bytes.length - ManifestBytes.CHECKSUM;
  }

  /** Decodes a manifest whose last checksum and version were checked. */
  static Manifest read(byte[] bytes) throws IOException {
    return new ManifestV2(bytes).all();
  }

  private Manifest all() throws IOException {
    checkPrefix();
    IndexRecord first = record(IndexRecord.SUMMARY);
    flags = first.flags();
    end = first.offset();
    summary = block(first, IndexRecord.SUMMARY);
    if (end != IndexRecord.place(summary.partitions()) + first.length()) {
      throw new ManifestException("an index of another length than that of "
          + summary.partitions() + " partitions");
    }
    for (int partition = 0; partition < summary.partitions(); partition++) {
      add(partition);
    }
    if (end != body) {
      throw new ManifestException((body - end) + " bytes too many");
    }
    return summary.with(flags).files(summary.files()).segments(segments).build();
  }

  private void checkPrefix() throws ManifestException {
    if (body < IndexRecord.PREFIX) {
      throw new ManifestException("cut short: " + bytes.length + " bytes");
    }
    int reserved = ByteBuffer.wrap(bytes).getInt(Integer.BYTES) & 0xffffff;
    if (reserved != 0) {
      throw new ManifestException("unknown flags 0x" + Integer.toHexString(reserved));
    }
  }

  private void add(int partition) throws IOException {
    IndexRecord record = record(partition);
    if (shared != null && record.offset() == shared.offset()
        && record.length() == shared.length()) {
      return;
    }
    ManifestBlock block = block(record, partition);
    if (block.partition() == ManifestBlock.NONE) {
      shared = record;
    }
    segments.addAll(block.renumbered());
  }

  private IndexRecord record(int number) throws ManifestException {
    long place = IndexRecord.place(number);
    if (place > body - IndexRecord.BYTES) {
      throw new ManifestException(
          IndexRecord.name(number) + ": its index record is beyond the end");
    }
    IndexRecord record = IndexRecord.read(bytes, (int) place, number);
    if (summary != null && record.flags() != flags) {
      throw new ManifestException(IndexRecord.name(number) + ": other flags than the summary's");
    }
    return record;
  }

  /** Decodes the block that has to come next. */
  private ManifestBlock block(IndexRecord record, int number) throws ManifestException {
    String name = IndexRecord.name(number);
    if (record.offset() != end || end < IndexRecord.PREFIX
        || record.length() < ManifestBlock.SMALLEST || record.length() > body - end) {
      throw new ManifestException(name + ": no block at " + record.offset() + " of "
          + record.length() + " bytes");
    }
    ManifestBlock block =
        ManifestBlock.decode(bytes, (int) end, record.length(), name, Long.MAX_VALUE);
    block.check(number);
    block.check(summary == null ? block : summary);
    end += record.length();
    return block;
  }
}
