package attack;

import java.io.IOException;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/** Keys of so many MiB as each line says. */
final class Large {
  private Large() {}

  static void prepare(Job job) {
    job.setMapperClass(Inflate.class);
    job.setReducerClass(Measure.class);
    job.setMapOutputKeyClass(BytesWritable.class);
  }

  /** A key of the line's first byte. */
  public static final class Inflate extends Mapper<LongWritable, Text, BytesWritable, IntWritable> {
    @Override
    protected void map(LongWritable at, Text line, Context context)
        throws IOException, InterruptedException {
      byte[] bytes = new byte[Integer.parseInt(line.toString().substring(1)) << 20];
      Arrays.fill(bytes, line.getBytes()[0]);
      context.write(new BytesWritable(bytes), new IntWritable(1));
    }
  }

  /** Length and CRC-32 of each key. */
  public static final class Measure extends Reducer<BytesWritable, IntWritable, Text, Text> {
    @Override
    protected void reduce(BytesWritable key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      CRC32 crc = new CRC32();
      crc.update(key.getBytes(), 0, key.getLength());
      context.write(new Text("" + key.getLength()), new Text("" + crc.getValue()));
    }
  }
}
