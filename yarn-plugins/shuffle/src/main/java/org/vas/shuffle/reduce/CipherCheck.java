package org.vas.shuffle.reduce;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.IFileInputStream;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.vas.shuffle.daemon.RefusedException;
import org.vas.shuffle.merge.ChunkStream;
import org.vas.shuffle.merge.Chunks;
import org.vas.shuffle.mof.BadOutputException;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

/**
 * Reads encrypted segments through before they count as intact. IFile's checksum lies within the
 * encryption, so that the map's node cannot compare it; a merge would find the damage too late.
 */
final class CipherCheck {
  private static final int CHECKSUM = 4;
  private static final int LARGEST_READ = 1 << 20;

  private final Stored stored;
  private final Configuration conf;
  private final ReadMeter meter;
  private final int bufferBytes;
  private final int padding;

  /** Opens the stored bytes of a segment, in buffers of so many bytes. */
  @FunctionalInterface
  interface Stored {
    Chunks open(SegmentFile segment, int bufferBytes);
  }

  /**
   * Makes a check by a job's key, which is among its credentials.
   *
   * @param memory bytes that one check may take, for two buffers and a window
   */
  CipherCheck(Stored stored, Configuration conf, ReadMeter meter, long memory)
      throws IOException {
    this.stored = stored;
    this.conf = conf;
    this.meter = meter;
    long blocks = Math.min(memory / 4, LARGEST_READ) / Segment.CHECKSUM_BYTES;
    this.bufferBytes = (int) Math.max(1, blocks) * Segment.CHECKSUM_BYTES;
    this.padding = CryptoUtils.cryptoPadding(conf);
  }

  /** Returns the bytes that encryption adds to a segment. */
  int padding() {
    return padding;
  }

  /**
   * Compares IFile's checksum with what the segment decrypts to.
   *
   * @param segment its stored bytes are fetched, unless it holds them
   * @throws BadOutputException if it is not what the map wrote
   * @throws RefusedException if the map's node does not give its bytes
   * @throws IOException if they cannot be fetched
   */
  void verify(SegmentFile segment) throws IOException {
    long bytes = segment.segment().storedBytes();
    try (ChunkStream stream = new ChunkStream(stored.open(segment, bufferBytes))) {
      try {
        readThrough(stream, bytes);
      } catch (IOException | RuntimeException e) {
        if (stream.failed()) {
          throw original(e);
        }
        throw new BadOutputException(segment + ": does not decrypt to what its map wrote: " + e, e);
      }
    }
    if (segment.held().isEmpty()) {
      meter.again(bytes);
    }
  }

  // The one who is to blame is told by the kind of the error, which a merge would not need.
  private static IOException original(Exception e) {
    Throwable cause = e.getCause();
    return cause instanceof RefusedException || cause instanceof BadOutputException
        ? (IOException) cause : new IOException(e.getMessage(), e);
  }

  private void readThrough(InputStream encrypted, long bytes) throws IOException {
    if (bytes < padding + CHECKSUM) {
      throw new IOException("too short");
    }
    byte[] window = new byte[Segment.CHECKSUM_BYTES];
    try (InputStream plain = CryptoUtils.wrapIfNecessary(conf, encrypted, bytes)) {
      // IFile's stream compares when it comes to its end.
      InputStream checked = new IFileInputStream(plain, bytes - padding, conf);
      long left = bytes - padding - CHECKSUM;
      while (left > 0) {
        int count = checked.read(window, 0, (int) Math.min(window.length, left));
        if (count <= 0) {
          throw new IOException("ends early");
        }
        left -= count;
      }
    }
  }
}
