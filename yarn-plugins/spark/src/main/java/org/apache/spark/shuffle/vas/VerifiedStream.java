package org.apache.spark.shuffle.vas;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.apache.hadoop.fs.FSDataInputStream;

/**
 * The bytes of some neighbouring partitions of a map output. The file is opened by the first read,
 * and bytes are handed out only after the checksum of their block was compared. Once a read has
 * failed, all do. Not for several threads.
 */
final class VerifiedStream extends InputStream {
  private final MapFiles map;
  private final BlockPlan plan;
  private final VerifiedBuffer source;
  private FSDataInputStream file;
  private byte[] buffer = {};
  private int at;
  private int filled;
  private int nextBlock;
  private long nextOffset;
  private RuntimeException failure;

  VerifiedStream(MapFiles map, BlockPlan plan, VerifiedBuffer source) {
    this.map = map;
    this.plan = plan;
    this.source = source;
    this.nextOffset = plan.offset();
  }

  @Override
  public int read() {
    return fill() ? buffer[at++] & 0xff : -1;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (length == 0) {
      return 0;
    }
    if (!fill()) {
      return -1;
    }
    int count = Math.min(length, filled - at);
    System.arraycopy(buffer, at, bytes, offset, count);
    at += count;
    return count;
  }

  /** Returns the number of verified bytes that can be read without a call of the file system. */
  @Override
  public int available() {
    return filled - at;
  }

  private boolean fill() {
    if (failure != null) {
      throw failure;
    }
    if (at < filled) {
      return true;
    }
    if (nextBlock == plan.blocks()) {
      return false;
    }
    try {
      readBlocks();
      return true;
    } catch (IOException e) {
      failure = map.failure(e);
      throw failure;
    }
  }

  private void readBlocks() throws IOException {
    int count = file == null ? openAndRead() : readOn();
    int from = 0;
    for (int block = nextBlock; block < nextBlock + count; block++) {
      if (!plan.isIntact(block, buffer, from)) {
        throw new IOException("wrong checksum of the " + plan.length(block) + " bytes at "
            + (nextOffset + from));
      }
      from += plan.length(block);
    }
    map.tally().count(WorkKind.BYTES_VERIFIED, from);
    nextOffset += from;
    nextBlock += count;
    at = 0;
    filled = from;
  }

  private int openAndRead() throws IOException {
    FirstRead first = source.first();
    file = first.file();
    buffer = first.buffer();
    source.beginNext();
    return first.blocks();
  }

  private int readOn() throws IOException {
    int count = FirstRead.blocks(plan, nextBlock);
    map.tally().count(WorkKind.READS);
    file.readFully(nextOffset, buffer, 0, FirstRead.bytes(plan, nextBlock, count));
    return count;
  }

  @Override
  public void close() throws IOException {
    buffer = new byte[0];
    at = 0;
    filled = 0;
    if (failure == null) {
      failure = new IllegalStateException("read after close");
    }
    if (file != null) {
      file.close();
    }
  }
}
