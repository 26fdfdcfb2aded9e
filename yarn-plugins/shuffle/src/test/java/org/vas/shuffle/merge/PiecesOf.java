package org.vas.shuffle.merge;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.io.WritableUtils;

/** An IFile stream in memory, in pieces of one size, each in an array that the next one spoils. */
class PiecesOf implements Chunks {
  private final byte[] stream;
  private final byte[] piece;
  private int done;
  private int length;

  PiecesOf(byte[] stream, int size) {
    this.stream = stream;
    this.piece = new byte[size + 1];
  }

  /** Records of a key and a value each, and the end marker. */
  static byte[] stream(List<byte[][]> records) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      for (byte[][] each : records) {
        WritableUtils.writeVInt(out, each[0].length);
        WritableUtils.writeVInt(out, each[1].length);
        out.write(each[0]);
        out.write(each[1]);
      }
      WritableUtils.writeVInt(out, -1);
      WritableUtils.writeVInt(out, -1);
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  static RecordCursor cursor(List<byte[][]> records, int size) {
    byte[] stream = stream(records);
    return new RecordCursor("test", new PiecesOf(stream, size), records.size(), stream.length);
  }

  @Override
  public boolean next() {
    length = Math.min(piece.length - 1, stream.length - done);
    Arrays.fill(piece, (byte) 0x55);
    System.arraycopy(stream, done, piece, 1, length);
    done += length;
    return length > 0;
  }

  @Override
  public byte[] data() {
    return piece;
  }

  @Override
  public int start() {
    return 1;
  }

  @Override
  public int end() {
    return 1 + length;
  }

  @Override
  public void finish() {}

  @Override
  public void close() {}
}
