package org.vas.shuffle.mof;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Writes the stored bytes of one segment or partition into a file, counts them, and makes a
 * checksum (CRC32C) of each {@link Segment#CHECKSUM_BYTES}. It is not closed with the file below.
 */
public final class ChecksummedOutput extends OutputStream {
  private final OutputStream out;
  private final CRC32C crc = new CRC32C();
  private final byte[] one = new byte[1];
  private int[] checksums = new int[16];
  private int blocks;
  private int inBlock;

  /** Makes an output that has written nothing yet to the stream below. */
  public ChecksummedOutput(OutputStream out) {
    this.out = out;
  }

  @Override
  public void write(int value) throws IOException {
    one[0] = (byte) value;
    write(one, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    int at = offset;
    int end = offset + length;
    while (at < end) {
      int part = Math.min(end - at, Segment.CHECKSUM_BYTES - inBlock);
      crc.update(bytes, at, part);
      at += part;
      inBlock += part;
      if (inBlock == Segment.CHECKSUM_BYTES) {
        endBlock();
      }
    }
    out.write(bytes, offset, length);
  }

  /** Does nothing: Hadoop's streams flush at the end of every segment, a file needs it once. */
  @Override
  public void flush() {}

  /** Returns the number of bytes that were written to this output. */
  public long bytes() {
    return (long) blocks * Segment.CHECKSUM_BYTES + inBlock;
  }

  /** Returns the checksums of all that was written; nothing may be written afterwards. */
  public int[] checksums() {
    if (inBlock == 0) {
      return Arrays.copyOf(checksums, blocks);
    }
    int[] all = Arrays.copyOf(checksums, blocks + 1);
    all[blocks] = (int) crc.getValue();
    return all;
  }

  private void endBlock() {
    if (blocks == checksums.length) {
      checksums = Arrays.copyOf(checksums, blocks * 2);
    }
    checksums[blocks++] = (int) crc.getValue();
    crc.reset();
    inBlock = 0;
  }
}
