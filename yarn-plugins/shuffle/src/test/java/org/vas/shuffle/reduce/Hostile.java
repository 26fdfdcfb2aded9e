package org.vas.shuffle.reduce;

import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.serializer.Deserializer;
import org.apache.hadoop.io.serializer.DeserializerComparator;
import org.apache.hadoop.io.serializer.Serialization;
import org.apache.hadoop.io.serializer.Serializer;

/** Classes of a job with scratch space in static fields: right in one thread, and only there. */
final class Hostile {
  private static final byte[] SCRATCH = new byte[64];
  private static final byte[] OTHER = new byte[64];

  private Hostile() {}

  // Gives another thread time to write into the scratch space.
  private static void used() {
    JobCode.runs();
    Thread.onSpinWait();
  }

  /** A word of up to 60 letters, which is read by way of a static buffer. */
  public static class ReadKey implements WritableComparable<ReadKey> {
    String word = "";

    ReadKey set(String text) {
      word = text;
      return this;
    }

    @Override
    public void write(DataOutput out) throws IOException {
      JobCode.runs();
      byte[] bytes = word.getBytes(StandardCharsets.US_ASCII);
      out.writeByte(bytes.length);
      out.write(bytes);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      int length = in.readByte();
      in.readFully(SCRATCH, 0, length);
      used();
      word = new String(SCRATCH, 0, length, StandardCharsets.US_ASCII);
    }

    @Override
    public int compareTo(ReadKey other) {
      JobCode.runs();
      return word.compareTo(other.word);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof ReadKey && word.equals(((ReadKey) other).word);
    }

    @Override
    public int hashCode() {
      return word.hashCode();
    }

    @Override
    public String toString() {
      return word;
    }
  }

  /** Compares by way of static buffers. */
  public static final class CompareKey extends ReadKey {
    @Override
    public void readFields(DataInput in) throws IOException {
      JobCode.runs();
      byte[] bytes = new byte[in.readByte()];
      in.readFully(bytes);
      word = new String(bytes, StandardCharsets.US_ASCII);
    }

    @Override
    public int compareTo(ReadKey other) {
      copy(word, SCRATCH);
      copy(other.word, OTHER);
      used();
      return compare(SCRATCH, OTHER);
    }

    private static void copy(String word, byte[] target) {
      byte[] bytes = word.getBytes(StandardCharsets.US_ASCII);
      System.arraycopy(bytes, 0, target, 1, bytes.length);
      target[0] = (byte) bytes.length;
    }
  }

  private static int compare(byte[] left, byte[] right) {
    return new String(left, 1, left[0], StandardCharsets.US_ASCII)
        .compareTo(new String(right, 1, right[0], StandardCharsets.US_ASCII));
  }

  /** A comparator of bytes, of any key here, with static buffers. */
  public static class Raw implements RawComparator<ReadKey> {
    @Override
    public int compare(byte[] left, int leftOffset, int leftLength,
        byte[] right, int rightOffset, int rightLength) {
      System.arraycopy(left, leftOffset, SCRATCH, 0, leftLength);
      System.arraycopy(right, rightOffset, OTHER, 0, rightLength);
      used();
      return Hostile.compare(SCRATCH, OTHER);
    }

    @Override
    public int compare(ReadKey left, ReadKey right) {
      JobCode.runs();
      return left.word.compareTo(right.word);
    }
  }

  /** Groups by the first letter, which it keeps in a static field. */
  public static final class Grouping extends Raw {
    private static byte letter;

    @Override
    public int compare(byte[] left, int leftOffset, int leftLength,
        byte[] right, int rightOffset, int rightLength) {
      letter = left[leftOffset + 1];
      used();
      return Byte.compare(letter, right[rightOffset + 1]);
    }

    @Override
    public int compare(ReadKey left, ReadKey right) {
      JobCode.runs();
      return Character.compare(left.word.charAt(0), right.word.charAt(0));
    }
  }

  /** A key that only {@link ScratchSerialization} can write and read. */
  public static final class SerializedKey extends ReadKey {
    @Override
    public void write(DataOutput out) {
      throw new UnsupportedOperationException("not by this serialization");
    }

    @Override
    public void readFields(DataInput in) {
      throw new UnsupportedOperationException("not by this serialization");
    }
  }

  /** A serialization of a job, with a static buffer. */
  public static final class ScratchSerialization implements Serialization<SerializedKey> {
    @Override
    public boolean accept(Class<?> kind) {
      return kind == SerializedKey.class;
    }

    @Override
    public Serializer<SerializedKey> getSerializer(Class<SerializedKey> kind) {
      return new Writer();
    }

    @Override
    public Deserializer<SerializedKey> getDeserializer(Class<SerializedKey> kind) {
      return new Reader();
    }
  }

  private static final class Writer implements Serializer<SerializedKey> {
    private OutputStream out;

    @Override
    public void open(OutputStream target) {
      out = target;
    }

    @Override
    public void serialize(SerializedKey key) throws IOException {
      JobCode.runs();
      byte[] bytes = key.word.getBytes(StandardCharsets.US_ASCII);
      out.write(bytes.length);
      out.write(bytes);
    }

    @Override
    public void close() {}
  }

  private static final class Reader implements Deserializer<SerializedKey> {
    private DataInputStream in;

    @Override
    public void open(InputStream source) {
      in = new DataInputStream(source);
    }

    @Override
    public SerializedKey deserialize(SerializedKey used) throws IOException {
      SerializedKey key = used == null ? new SerializedKey() : used;
      int length = in.readByte();
      in.readFully(SCRATCH, 0, length);
      used();
      key.word = new String(SCRATCH, 0, length, StandardCharsets.US_ASCII);
      return key;
    }

    private static void used() {
      Hostile.used();
    }

    @Override
    public void close() {}
  }

  /** Compares by what the serialization reads. */
  public static final class SerializedOrder extends DeserializerComparator<SerializedKey> {
    public SerializedOrder() throws IOException {
      super(new Reader());
    }

    @Override
    public int compare(SerializedKey left, SerializedKey right) {
      JobCode.runs();
      return left.word.compareTo(right.word);
    }
  }

  /** A codec of a job, whose streams share one buffer. */
  public static class ScratchCodec extends DefaultCodec {
    @Override
    public CompressionInputStream createInputStream(InputStream in, Decompressor decompressor)
        throws IOException {
      return new ScratchStream(super.createInputStream(in, decompressor));
    }
  }

  private static final class ScratchStream extends CompressionInputStream {
    private final CompressionInputStream inflated;

    ScratchStream(CompressionInputStream inflated) throws IOException {
      super(inflated);
      this.inflated = inflated;
    }

    @Override
    public int read() throws IOException {
      used();
      return inflated.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int count = inflated.read(SCRATCH, 0, Math.min(length, SCRATCH.length));
      used();
      System.arraycopy(SCRATCH, 0, bytes, offset, Math.max(0, count));
      return count;
    }

    @Override
    public void resetState() throws IOException {
      inflated.resetState();
    }
  }
}
