package org.vas.shuffle.merge;

import java.util.List;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

/** Divides a number of bytes of memory among read buffers, codecs and batches. */
public final class MemoryPlan {
  static final int BATCHES = 4;
  private static final int LARGEST_BATCH = 256 << 10;
  private static final int SMALLEST_BATCH = 4 << 10;
  private static final int SMALLEST_BUFFER = Segment.CHECKSUM_BYTES;
  private static final int FEWEST_INPUTS = 2;
  private static final int SMALLEST_LOOK = 2 * SMALLEST_BUFFER;
  // A process has 4,096 at most where the kernel's limit is left alone.
  private static final int MOST_FILES = 1000;

  private final long forInputs;
  private final int batchBytes;
  private final int readBytes;
  private final long decodeBytes;
  private final long describedBytes;

  /**
   * Divides a number of bytes.
   *
   * @param budget bytes for all of it; two inputs get what they need even if that is more
   * @param readBytes the size that one read should have
   * @param decodeBytes bytes that each open segment needs besides its two buffers
   */
  public MemoryPlan(long budget, long readBytes, long decodeBytes) {
    this.batchBytes =
        (int) Math.max(SMALLEST_BATCH, Math.min(LARGEST_BATCH, budget / (8 * BATCHES)));
    this.forInputs = budget - BATCHES * Batch.memory(batchBytes);
    this.readBytes = (int) (readBytes / SMALLEST_BUFFER * SMALLEST_BUFFER);
    this.decodeBytes = decodeBytes;
    this.describedBytes = 0;
  }

  private MemoryPlan(MemoryPlan last, long forInputs, long describedBytes) {
    this.batchBytes = last.batchBytes;
    this.forInputs = forInputs - describedBytes;
    this.readBytes = last.readBytes;
    this.decodeBytes = last.decodeBytes;
    this.describedBytes = describedBytes;
  }

  /** Returns the plan for a pass, which has its own budget, a writer, and no batches. */
  MemoryPlan forPass(long budget, long writerBytes) {
    return new MemoryPlan(this, budget - writerBytes, describedBytes);
  }

  /**
   * Returns the plan less the memory of these segments' descriptions, which stay until the last is
   * merged.
   */
  public MemoryPlan besides(List<SegmentFile> segments) {
    return new MemoryPlan(this, forInputs, SegmentFile.memory(segments));
  }

  int batchBytes() {
    return batchBytes;
  }

  /** Returns whether all these segments can be open at once. */
  public boolean fits(List<SegmentFile> segments) {
    return segments.size() <= fanIn()
        || (files(segments) <= MOST_FILES && need(segments, SMALLEST_BUFFER) <= forInputs);
  }

  /** Returns how many segments of any size can be open at once. */
  public int fanIn() {
    long fit = forInputs / (2L * SMALLEST_BUFFER + decodeBytes);
    return (int) Math.max(FEWEST_INPUTS, Math.min(MOST_FILES, fit));
  }

  /**
   * Returns the size in bytes of the largest read buffer with which all these segments fit: a
   * multiple of 64 KiB.
   */
  public int bufferBytes(List<SegmentFile> segments) {
    int size = readBytes;
    while (size > SMALLEST_BUFFER && need(segments, size) > forInputs) {
      size = Math.max(SMALLEST_BUFFER, size / 2 / SMALLEST_BUFFER * SMALLEST_BUFFER);
    }
    return size;
  }

  /** Returns the bytes of segments that may be held before it is known whether all fit. */
  public long toHold() {
    return Math.max(0, forInputs / 2);
  }

  /**
   * Returns the bytes that each reading thread may take while it looks at a map output, besides
   * what is held: half for a part of a manifest, half for a read.
   */
  public long toLook() {
    return Math.max(SMALLEST_LOOK, (forInputs - toHold()) / ReadPool.THREADS);
  }

  // Of what is held already no file is opened.
  private static long files(List<SegmentFile> segments) {
    return segments.stream().filter(each -> each.held().isEmpty()).count();
  }

  private long need(List<SegmentFile> segments, int bufferBytes) {
    long sum = 0;
    for (SegmentFile each : segments) {
      sum += ReadAhead.memory(each.segment(), bufferBytes) + decodeBytes;
    }
    return sum;
  }
}
