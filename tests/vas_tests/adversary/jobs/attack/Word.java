package attack;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/** A word of up to 60 letters: its length in one byte, then the letters. */
public class Word implements WritableComparable<Word> {
  protected String word = "";

  public Word set(String text) {
    word = text;
    return this;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    byte[] bytes = word.getBytes(StandardCharsets.US_ASCII);
    out.writeByte(bytes.length);
    out.write(bytes);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    byte[] bytes = new byte[in.readByte()];
    in.readFully(bytes);
    word = new String(bytes, StandardCharsets.US_ASCII);
  }

  @Override
  public int compareTo(Word other) {
    return word.compareTo(other.word);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Word && word.equals(((Word) other).word);
  }

  @Override
  public int hashCode() {
    return word.hashCode();
  }

  @Override
  public String toString() {
    return word;
  }

  /** Counts lines as words of Text. */
  public static class TextMapper extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable at, Text line, Context context)
        throws IOException, InterruptedException {
      context.write(line, new IntWritable(1));
    }
  }

  /** For each group: its first key, how many values, and the CRC-32 of all its keys in order. */
  public static class Digest<K> extends Reducer<K, IntWritable, Text, Text> {
    @Override
    protected void reduce(K key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      String first = key.toString();
      CRC32 crc = new CRC32();
      int count = 0;
      for (IntWritable value : values) {
        crc.update((key + "\n").getBytes(StandardCharsets.US_ASCII));
        count += value.get();
      }
      context.write(new Text(first), new Text(count + " " + crc.getValue()));
    }
  }
}
