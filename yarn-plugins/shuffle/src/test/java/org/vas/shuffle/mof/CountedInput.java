package org.vas.shuffle.mof;

import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;

/** Bytes as an open file that counts its positioned reads and the bytes they ask for. */
final class CountedInput extends FSInputStream {
  private final byte[] bytes;
  private int reads;
  private long asked;

  CountedInput(byte[] bytes) {
    this.bytes = bytes;
  }

  FSDataInputStream open() {
    return new FSDataInputStream(this);
  }

  /** Returns the reads so far that found anything. */
  int reads() {
    return reads;
  }

  /** Returns the bytes that were asked for. */
  long asked() {
    return asked;
  }

  @Override
  public int read(long position, byte[] buffer, int offset, int length) {
    if (position < 0) {
      throw new IllegalArgumentException("read at " + position);
    }
    if (position >= bytes.length) {
      return -1;
    }
    reads++;
    asked += length;
    int count = (int) Math.min(length, bytes.length - position);
    System.arraycopy(bytes, (int) position, buffer, offset, count);
    return count;
  }

  @Override
  public void seek(long position) {
    throw new UnsupportedOperationException("only positioned reads");
  }

  @Override
  public long getPos() {
    return 0;
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public int read() {
    throw new UnsupportedOperationException("only positioned reads");
  }

  @Override
  public int read(byte[] buffer, int offset, int length) {
    throw new UnsupportedOperationException("only positioned reads");
  }
}
