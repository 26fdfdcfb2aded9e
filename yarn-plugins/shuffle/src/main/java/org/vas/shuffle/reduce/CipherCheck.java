package org.vas.shuffle.reduce;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.IFileInputStream;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.vas.shuffle.mof.BadOutputException;
import org.vas.shuffle.mof.CallWatch;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentReader;

/**
 * Reads encrypted segments through before they count as intact. IFile's checksum lies within the
 * encryption, so that the map's node cannot compare it; a merge would find the damage too late.
 */
final class CipherCheck {
  private static final int CHECKSUM = 4;
  private static final int LARGEST_READ = 1 << 20;

  private final FileSystem files;
  private final Configuration conf;
  private final ReadMeter meter;
  private final int readBytes;
  private final int padding;

  /**
   * Makes a check by a job's key, which is among its credentials.
   *
   * @param files opens the segments
   * @param memory bytes that one check may take
   */
  CipherCheck(FileSystem files, Configuration conf, ReadMeter meter, long memory)
      throws IOException {
    this.files = files;
    this.conf = conf;
    this.meter = meter;
    long blocks = Math.min(memory / 2, LARGEST_READ) / Segment.CHECKSUM_BYTES;
    this.readBytes = (int) Math.max(1, blocks) * Segment.CHECKSUM_BYTES;
    this.padding = CryptoUtils.cryptoPadding(conf);
  }

  /** Returns the bytes that encryption adds to a segment. */
  int padding() {
    return padding;
  }

  /**
   * Compares IFile's checksum with what the segment decrypts to.
   *
   * @param held all stored bytes, or none if they have to be fetched
   * @throws BadOutputException if it is not what the map wrote
   * @throws IOException if it cannot be fetched
   */
  void verify(SegmentFile segment, byte[] held, CallWatch watch) throws IOException {
    long bytes = segment.segment().storedBytes();
    try (Stored stored = new Stored(segment, held, watch)) {
      try {
        readThrough(stored, bytes);
      } catch (IOException | RuntimeException e) {
        if (stored.failure != null) {
          throw stored.failure;
        }
        throw new BadOutputException(segment + ": does not decrypt to what its map wrote: " + e, e);
      }
    }
    if (held.length == 0) {
      meter.again(bytes);
    }
  }

  private void readThrough(InputStream stored, long bytes) throws IOException {
    if (bytes < padding + CHECKSUM) {
      throw new IOException("too short");
    }
    byte[] window = new byte[Segment.CHECKSUM_BYTES];
    try (InputStream plain = CryptoUtils.wrapIfNecessary(conf, stored, bytes)) {
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

  /** The stored bytes of a segment; keeps the error of reading them, which is not the cipher's. */
  private final class Stored extends InputStream {
    private final SegmentReader reader;
    private final CallWatch watch;
    private final byte[] buffer;
    private InputStream now;
    private IOException failure;

    private Stored(SegmentFile segment, byte[] held, CallWatch watch) {
      this.reader = held.length > 0 ? null : new SegmentReader(files, segment, meter);
      this.watch = watch;
      this.now = new ByteArrayInputStream(held);
      this.buffer =
          new byte[(int) Math.min(held.length > 0 ? 0 : readBytes, segment.segment().storedBytes())];
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int count = now.read(bytes, offset, length);
      if (count < 0 && reader != null && advance()) {
        count = now.read(bytes, offset, length);
      }
      return count;
    }

    private boolean advance() throws IOException {
      try {
        int count = reader.read(buffer, watch);
        now = new ByteArrayInputStream(buffer, 0, count);
        return count > 0;
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }

    @Override
    public void close() throws IOException {
      if (reader != null) {
        reader.close();
      }
    }
  }
}
