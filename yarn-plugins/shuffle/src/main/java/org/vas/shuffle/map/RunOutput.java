package org.vas.shuffle.map;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentWriter;

/** Writes one run to disk: partitions in order, and a segment for each that has records. */
final class RunOutput {
  private final SegmentWriter writer;
  private final MofSet mofs;
  private final int run;
  private final long expectedBytes;
  private final List<Segment> segments = new ArrayList<>();
  private int partition;
  private boolean isOpen;

  /**
   * Starts a run without segments.
   * @param expectedBytes about how many bytes each segment will have
   */
  RunOutput(SegmentWriter writer, MofSet mofs, int run, long expectedBytes) {
    this.writer = writer;
    this.mofs = mofs;
    this.run = run;
    this.expectedBytes = expectedBytes;
  }

  /** Ends the segment before, and starts that of partition {@code next}. */
  void start(int next) throws IOException {
    finish();
    partition = next;
  }

  /** Adds a record in IFile's form: two lengths, then key and value. */
  void append(byte[] record, int from, int length) throws IOException {
    open();
    writer.append(record, from, length);
  }

  void append(byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength)
      throws IOException {
    open();
    writer.append(key, keyFrom, keyLength, value, valueFrom, valueLength);
  }

  /** Ends the run, and returns its segments by partition. */
  List<Segment> end() throws IOException {
    finish();
    return segments;
  }

  private void open() throws IOException {
    if (!isOpen) {
      writer.open(mofs.of(partition, expectedBytes));
      isOpen = true;
    }
  }

  private void finish() throws IOException {
    if (isOpen) {
      isOpen = false;
      segments.add(writer.close(partition, run));
    }
  }
}
