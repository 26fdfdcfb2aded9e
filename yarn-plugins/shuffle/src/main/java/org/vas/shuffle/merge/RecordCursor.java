package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import org.vas.shuffle.mof.Segment;

/**
 * Reads the records of one IFile stream, in order and in place: a record is copied only where it
 * crosses the border of two chunks. Its value stands right after its key. Of a large record that
 * crosses, {@link #next} reads the key; the value stays in the file until {@link #whole}, so that
 * many inputs that wait with such a record hold none of them.
 */
public final class RecordCursor implements Closeable {
  // Two of the longest numbers that Hadoop writes.
  private static final int LONGEST_HEADER = 18;
  private static final int END = -1;
  private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 16;
  private static final int LARGE = 4 << 10;

  private final String name;
  private final Chunks chunks;
  private final long records;
  private final long rawBytes;
  private byte[] chunk = new byte[0];
  private int position;
  private int limit;
  private long taken; // bytes of the chunks before, less where this one starts
  private long count;
  private byte[] crossing = new byte[0];

  // The record, for Merge's inner loop.
  byte[] data;
  int offset;
  int keyLength;
  int valueLength;
  boolean withoutValue;

  /**
   * Makes a cursor before the first record of a stream; {@link #close} closes the stream too.
   *
   * @param name names the stream in errors
   * @param records the number that there must be, or {@link Segment#UNCOUNTED}; checked at the end
   * @param rawBytes bytes that there must be, end marker included; checked at the end
   */
  public RecordCursor(String name, Chunks chunks, long records, long rawBytes) {
    this.name = requireNonNull(name, "name");
    this.chunks = requireNonNull(chunks, "chunks");
    this.records = records;
    this.rawBytes = rawBytes;
  }

  /**
   * Goes to the next record of the stream.
   *
   * @return false at the end, where every record and byte that was promised has been there
   * @throws IOException if the stream cannot be read, or holds something else than was promised
   */
  public boolean next() throws IOException {
    int at = position;
    if (limit - at < LONGEST_HEADER) {
      return nextSlowly();
    }
    byte[] bytes = chunk;
    int key = bytes[at++];
    if (key < -112) {
      key = tail(bytes, at, key);
      at += tailLength(bytes[at - 1]);
    }
    int value = bytes[at++];
    if (value < -112) {
      value = tail(bytes, at, value);
      at += tailLength(bytes[at - 1]);
    }
    long end = (long) at + key + value;
    if ((key | value) < 0 || end > limit) {
      return body(at, key, value);
    }
    data = bytes;
    offset = at;
    keyLength = key;
    valueLength = value;
    position = (int) end;
    count++;
    return true;
  }

  /**
   * Reads the value if {@link #next} left it in the file; called before anything but the key is
   * used.
   */
  void whole() throws IOException {
    if (withoutValue) {
      byte[] record = Arrays.copyOf(data, keyLength + valueLength);
      gather(record, keyLength, valueLength);
      data = record;
      if (crossing.length > LARGE) {
        crossing = new byte[0];
      }
      withoutValue = false;
    }
  }

  /** Returns the bytes that the record is in. */
  public byte[] data() {
    return data;
  }

  /** Returns the offset of the record's key. */
  public int offset() {
    return offset;
  }

  public int keyLength() {
    return keyLength;
  }

  public int valueLength() {
    return valueLength;
  }

  // Hadoop's variable-length int: -113 to -120 say 1 to 8 bytes follow, -121 to -128 the same for a
  // number that is inverted.
  private static int tailLength(byte first) {
    return first >= -120 ? -112 - first : -120 - first;
  }

  private static int tail(byte[] bytes, int at, int first) {
    int length = tailLength((byte) first);
    int value = 0;
    for (int i = 0; i < length && i < Integer.BYTES; i++) {
      value = value << 8 | (bytes[at + i] & 0xff);
    }
    return length > Integer.BYTES || first < -120 ? Integer.MIN_VALUE : value;
  }

  private boolean nextSlowly() throws IOException {
    int key = readInt();
    int value = readInt();
    return body(position, key, value);
  }

  private int readInt() throws IOException {
    byte first = readByte();
    if (first >= -112) {
      return first;
    }
    byte[] rest = new byte[Long.BYTES];
    int length = tailLength(first);
    for (int i = 0; i < length; i++) {
      rest[i] = readByte();
    }
    return tail(rest, 0, first);
  }

  private byte readByte() throws IOException {
    while (position == limit) {
      nextChunk();
    }
    return chunk[position++];
  }

  private void nextChunk() throws IOException {
    if (!chunks.next()) {
      throw new IOException(name + ": ends in the middle of record " + (count + 1));
    }
    taken += position;
    chunk = chunks.data();
    position = chunks.start();
    limit = chunks.end();
    taken -= position;
  }

  /** Reads what follows a header: a record, one that crosses into the next chunk, or the end. */
  private boolean body(int at, int key, int value) throws IOException {
    position = at;
    if (key == END && value == END) {
      finish();
      return false;
    }
    long length = (long) key + value;
    if (key < 0 || value < 0 || length > rawBytes || length > LARGEST_ARRAY) {
      throw new IOException(name + ": impossible record " + (count + 1) + ": key " + key
          + " bytes, value " + value + " bytes");
    }
    if (length <= limit - position) {
      data = chunk;
      offset = position;
      position += (int) length;
    } else {
      withoutValue = length > LARGE;
      cross(withoutValue ? key : (int) length);
    }
    keyLength = key;
    valueLength = value;
    count++;
    return true;
  }

  private void cross(int length) throws IOException {
    if (crossing.length < length || crossing.length > LARGE) {
      crossing = new byte[length];
    }
    gather(crossing, 0, length);
    data = crossing;
    offset = 0;
  }

  private void gather(byte[] target, int from, int length) throws IOException {
    int end = from + length;
    for (int have = from; have < end; ) {
      if (position == limit) {
        nextChunk();
      }
      int part = Math.min(end - have, limit - position);
      System.arraycopy(chunk, position, target, have, part);
      position += part;
      have += part;
    }
  }

  private void finish() throws IOException {
    long bytes = taken + position;
    if ((records != Segment.UNCOUNTED && count != records) || bytes != rawBytes) {
      throw new IOException(name + ": " + count + " records in " + bytes + " bytes, but "
          + records + " in " + rawBytes + " were published");
    }
    chunks.finish();
    close();
  }

  @Override
  public void close() throws IOException {
    chunk = new byte[0];
    crossing = chunk;
    data = chunk;
    position = 0;
    limit = 0;
    chunks.close();
  }
}
