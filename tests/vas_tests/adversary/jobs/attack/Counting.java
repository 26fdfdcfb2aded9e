package attack;

import java.io.IOException;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;

/** A map with as many counters as {@code attack.counters} says, in as many groups as attack.groups. */
final class Counting {
  private Counting() {}

  static void prepare(Job job) {
    job.setMapperClass(Counter.class);
    job.setReducerClass(Word.Digest.class);
  }

  /** Counts once in each counter, before the first record. */
  public static final class Counter extends Word.TextMapper {
    @Override
    protected void setup(Mapper<LongWritable, Text, Text, IntWritable>.Context context)
        throws IOException {
      int counters = context.getConfiguration().getInt("attack.counters", 0);
      int groups = context.getConfiguration().getInt("attack.groups", 1);
      for (int i = 0; i < counters; i++) {
        context.getCounter("own " + i % groups, "counter " + i).increment(1);
      }
    }
  }
}
