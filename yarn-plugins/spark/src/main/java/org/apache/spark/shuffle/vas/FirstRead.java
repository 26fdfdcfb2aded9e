package org.apache.spark.shuffle.vas;

import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;

/** The data file of a map, open, and the first blocks of a plan as they lie there: not verified. */
final class FirstRead implements Closeable {
  private static final int MOST_BYTES = 1 << 20;

  private final FSDataInputStream file;
  private final byte[] buffer;
  private final int blocks;

  private FirstRead(FSDataInputStream file, byte[] buffer, int blocks) {
    this.file = file;
    this.buffer = buffer;
    this.blocks = blocks;
  }

  /** Opens the file and reads as many blocks as one buffer holds. The plan has one at least. */
  static FirstRead of(MapFiles map, BlockPlan plan) throws IOException {
    FSDataInputStream file = map.openData();
    try {
      byte[] buffer = new byte[(int) Math.min(MOST_BYTES, plan.bytes())];
      int blocks = blocks(plan, 0);
      map.tally().count(WorkKind.READS);
      file.readFully(plan.offset(), buffer, 0, bytes(plan, 0, blocks));
      return new FirstRead(file, buffer, blocks);
    } catch (IOException | RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  /** Returns how many blocks from one on are one read. */
  static int blocks(BlockPlan plan, int first) {
    int end = first;
    for (int bytes = 0; end < plan.blocks() && bytes + plan.length(end) <= MOST_BYTES; end++) {
      bytes += plan.length(end);
    }
    return end - first;
  }

  /** Returns the bytes of some neighbouring blocks. */
  static int bytes(BlockPlan plan, int first, int count) {
    int bytes = 0;
    for (int block = first; block < first + count; block++) {
      bytes += plan.length(block);
    }
    return bytes;
  }

  /** Returns the open file, for the caller to close. */
  FSDataInputStream file() {
    return file;
  }

  /** Returns the buffer, which has room for every read of the plan. */
  byte[] buffer() {
    return buffer;
  }

  /** Returns the number of blocks in the buffer. */
  int blocks() {
    return blocks;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
