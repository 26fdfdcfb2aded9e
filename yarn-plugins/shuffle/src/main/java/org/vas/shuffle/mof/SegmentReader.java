package org.vas.shuffle.mof;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;

/**
 * Reads the stored bytes of one segment from front to back, each once, and hands out none whose
 * checksum is wrong. The file is opened by the first read and closed after the last one.
 */
public final class SegmentReader implements Closeable {
  private final FileSystem fs;
  private final SegmentFile source;
  private final ReadMeter meter;
  private final CRC32C crc = new CRC32C();
  private FSDataInputStream in;
  private boolean counted;
  private long done;

  public SegmentReader(FileSystem fs, SegmentFile source, ReadMeter meter) {
    this.fs = requireNonNull(fs, "fs");
    this.source = requireNonNull(source, "source");
    this.meter = requireNonNull(meter, "meter");
  }

  /**
   * Fills the buffer, whose length is a multiple of {@link Segment#CHECKSUM_BYTES} or reaches the
   * segment's end.
   *
   * @return bytes read; 0 at the end
   * @throws BadOutputException if the file ends early or a checksum is wrong
   */
  public int read(byte[] buffer, CallWatch watch) throws IOException {
    int length = nextLength(buffer);
    if (length > 0) {
      fill(done, buffer, length, watch);
    }
    advance(length);
    return length;
  }

  /** Returns the number of bytes that {@link #read} would put into a buffer; 0 at the end. */
  public int nextLength(byte[] buffer) {
    return (int) Math.min(buffer.length, source.segment().storedBytes() - done);
  }

  /** Returns the offset in the file of the bytes that are read next. */
  public long nextOffset() {
    return source.segment().offset() + done;
  }

  /**
   * Takes the next bytes, which something else put into the buffer, in place of {@link #read}.
   *
   * @param length what {@link #nextLength} said of this buffer
   * @throws BadOutputException if a checksum is wrong
   */
  public void take(byte[] buffer, int length) throws IOException {
    if (length > 0) {
      countOpened();
      verify(done, buffer, length);
      meter.read(length);
    }
    advance(length);
  }

  private void countOpened() {
    if (!counted) {
      counted = true;
      meter.opened();
    }
  }

  private void advance(int length) throws IOException {
    done += length;
    if (done == source.segment().storedBytes()) {
      close();
    }
  }

  /**
   * Reads the first and the last block, out of turn: they hold the segment's header and end.
   * @return bytes read
   * @throws BadOutputException if the file is too short or a checksum is wrong
   */
  public long readEnds(CallWatch watch) throws IOException {
    long stored = source.segment().storedBytes();
    byte[] block = new byte[(int) Math.min(Segment.CHECKSUM_BYTES, stored)];
    fill(0, block, block.length, watch);
    long last = (Segment.checksumsOf(stored) - 1) * Segment.CHECKSUM_BYTES;
    if (last == 0) {
      return stored;
    }
    fill(last, block, (int) (stored - last), watch);
    return block.length + stored - last;
  }

  /** Reads whole blocks from {@code from} on, a block's start. */
  private void fill(long from, byte[] buffer, int length, CallWatch watch) throws IOException {
    watch.calling(source.file());
    if (in == null) {
      in = fs.open(source.file());
      countOpened();
      watch.calling(source.file());
    }
    long offset = source.segment().offset() + from;
    try {
      in.readFully(offset, buffer, 0, length);
    } catch (EOFException e) {
      throw new BadOutputException(
          source + ": the file ends before offset " + (offset + length), e);
    }
    verify(from, buffer, length);
    meter.read(length);
  }

  private void verify(long from, byte[] buffer, int length) throws BadOutputException {
    int block = (int) (from / Segment.CHECKSUM_BYTES);
    for (int at = 0; at < length; at += Segment.CHECKSUM_BYTES) {
      crc.reset();
      crc.update(buffer, at, Math.min(Segment.CHECKSUM_BYTES, length - at));
      if ((int) crc.getValue() != source.segment().checksum(block++)) {
        throw new BadOutputException(source + ": wrong checksum at offset "
            + (source.segment().offset() + from + at));
      }
    }
  }

  @Override
  public void close() throws IOException {
    if (counted) {
      counted = false;
      meter.closed();
    }
    if (in != null) {
      FSDataInputStream open = in;
      in = null;
      open.close();
    }
  }
}
