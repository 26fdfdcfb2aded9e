package attack;

import java.io.DataInput;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;

/** Key class, comparator, grouping comparator and codec with scratch space in static fields. */
final class Scratch {
  private static final byte[] LEFT = new byte[64];
  private static final byte[] RIGHT = new byte[64];
  private static byte letter;

  private Scratch() {}

  // Gives another thread time to write into the scratch space.
  private static void used() {
    for (int i = 0; i < 20; i++) {
      Thread.onSpinWait();
    }
  }

  static void prepare(Job job) {
    job.setMapperClass(Words.class);
    job.setReducerClass(Word.Digest.class);
    job.setMapOutputKeyClass(Key.class);
    job.setSortComparatorClass(Order.class);
    job.setGroupingComparatorClass(Grouping.class);
    job.getConfiguration().setBoolean("mapreduce.map.output.compress", true);
    job.getConfiguration().set("mapreduce.map.output.compress.codec", Codec.class.getName());
  }

  /** Lines as keys. */
  public static final class Words extends Mapper<LongWritable, Text, Key, IntWritable> {
    @Override
    protected void map(LongWritable at, Text line, Context context)
        throws IOException, InterruptedException {
      Key key = new Key();
      key.set(line.toString());
      context.write(key, new IntWritable(1));
    }
  }

  /** Read by way of a static buffer. */
  public static final class Key extends Word {
    @Override
    public void readFields(DataInput in) throws IOException {
      int length = in.readByte();
      in.readFully(LEFT, 0, length);
      used();
      word = new String(LEFT, 0, length, StandardCharsets.US_ASCII);
    }
  }

  /** Compares by way of two static buffers. */
  public static class Order implements RawComparator<Key> {
    @Override
    public int compare(byte[] left, int leftOffset, int leftLength,
        byte[] right, int rightOffset, int rightLength) {
      System.arraycopy(left, leftOffset, LEFT, 0, leftLength);
      System.arraycopy(right, rightOffset, RIGHT, 0, rightLength);
      used();
      return new String(LEFT, 1, LEFT[0], StandardCharsets.US_ASCII)
          .compareTo(new String(RIGHT, 1, RIGHT[0], StandardCharsets.US_ASCII));
    }

    @Override
    public int compare(Key left, Key right) {
      return left.compareTo(right);
    }
  }

  /** Groups by the first letter, which it keeps in a static field. */
  public static final class Grouping extends Order {
    @Override
    public int compare(byte[] left, int leftOffset, int leftLength,
        byte[] right, int rightOffset, int rightLength) {
      letter = left[leftOffset + 1];
      used();
      return Byte.compare(letter, right[rightOffset + 1]);
    }
  }

  /** A codec whose streams share one buffer. */
  public static final class Codec extends DefaultCodec {
    @Override
    public CompressionInputStream createInputStream(InputStream in, Decompressor decompressor)
        throws IOException {
      return new Shared(super.createInputStream(in, decompressor));
    }
  }

  private static final class Shared extends CompressionInputStream {
    private final CompressionInputStream inflated;

    Shared(CompressionInputStream inflated) throws IOException {
      super(inflated);
      this.inflated = inflated;
    }

    @Override
    public int read() throws IOException {
      return inflated.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int count = inflated.read(LEFT, 0, Math.min(length, LEFT.length));
      used();
      System.arraycopy(LEFT, 0, bytes, offset, Math.max(0, count));
      return count;
    }

    @Override
    public void resetState() throws IOException {
      inflated.resetState();
    }
  }
}
