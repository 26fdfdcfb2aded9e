package attack;

import java.io.IOException;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/** Keys of a class with the name of Hadoop's, which comes from the job's jar and sorts backwards. */
final class Forged {
  private Forged() {}

  static void prepare(Job job) {
    job.setMapperClass(Numbers.class);
    job.setReducerClass(Echo.class);
    job.setMapOutputKeyClass(IntWritable.class);
    job.getConfiguration().setBoolean("mapreduce.job.user.classpath.first", true);
  }

  /** The number behind a line's first letter. */
  public static final class Numbers extends Mapper<LongWritable, Text, IntWritable, IntWritable> {
    @Override
    protected void map(LongWritable at, Text line, Context context)
        throws IOException, InterruptedException {
      int number = Integer.parseInt(line.toString().substring(1));
      context.write(new IntWritable(number), new IntWritable(1));
    }
  }

  /** Numbers as they come, with how many there are, and where their class is from. */
  public static final class Echo extends Reducer<IntWritable, IntWritable, Text, Text> {
    @Override
    protected void reduce(IntWritable key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      int count = 0;
      for (IntWritable value : values) {
        count += value.get();
      }
      context.write(new Text("" + key.get()), new Text("" + count));
    }
  }
}
