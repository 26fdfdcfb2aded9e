package org.apache.spark.shuffle.vas;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.fs.FSDataInputStream;

/** The bytes of an index: in memory, or in an open file of which the first are read at once. */
final class IndexSource {
  // The index of 2,000 partitions and 200 MiB is shorter: one read.
  private static final int FIRST_READ = 128 << 10;

  private final FSDataInputStream rest;
  private final byte[] start;

  private IndexSource(FSDataInputStream rest, byte[] start) {
    this.rest = rest;
    this.start = start;
  }

  /** Takes a whole index. */
  static IndexSource of(byte[] whole) {
    return new IndexSource(null, whole);
  }

  /** Reads the first bytes of an open index; the rest is read when it is asked for. */
  static IndexSource of(FSDataInputStream in) throws IOException {
    byte[] buffer = new byte[FIRST_READ];
    int filled = 0;
    int count;
    do {
      count = in.read(filled, buffer, filled, buffer.length - filled);
      filled += Math.max(0, count);
    } while (count > 0 && filled < buffer.length);
    return new IndexSource(filled < FIRST_READ ? null : in, Arrays.copyOf(buffer, filled));
  }

  /** Returns the bytes of the whole index; null if only the first were read. */
  byte[] whole() {
    return rest == null ? start : null;
  }

  /** Returns some bytes. Throws a BadIndexException if the index ends before. */
  byte[] bytes(long from, int length) throws IOException {
    if (from + length <= start.length) {
      return Arrays.copyOfRange(start, (int) from, (int) from + length);
    }
    MapIndex.require(rest != null, "is cut off after " + start.length + " bytes");
    byte[] bytes = new byte[length];
    rest.readFully(from, bytes, 0, length);
    return bytes;
  }
}
