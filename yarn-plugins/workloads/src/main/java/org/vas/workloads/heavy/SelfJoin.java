package org.vas.workloads.heavy;

import java.io.IOException;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.util.ToolRunner;
import org.vas.workloads.tool.OneJob;

/**
 * {@code SelfJoin INPUT OUTPUT}: does the join step of the Apriori algorithm, which makes
 * candidates of k + 1 items from every two sets of k items that differ in their last one.
 *
 * <p>It has no combiner: all that one could drop are lines that are in one split twice.
 */
public final class SelfJoin extends OneJob {
  static final char SEPARATOR = ',';

  /** Makes the job with its name and usage text. */
  public SelfJoin() {
    super("selfjoin", "Reads lines of k items, A,B,C. Writes A,B,C,D for each two lines A,B,C and"
        + " A,B,D\nthat differ in the last item alone, once.");
  }

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new SelfJoin(), args));
  }

  @Override
  protected void prepare(Job job) {
    job.setMapperClass(Cut.class);
    job.setReducerClass(JoinLasts.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(NullWritable.class);
  }

  /**
   * Splits a line into its last item and the items before it, with their last comma. Skips empty
   * lines.
   */
  public static final class Cut extends Mapper<LongWritable, Text, Text, Text> {
    private final Text first = new Text();
    private final Text last = new Text();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      if (line.getLength() == 0) {
        return;
      }
      int cut = afterLastSeparator(line);
      first.set(line.getBytes(), 0, cut);
      last.set(line.getBytes(), cut, line.getLength() - cut);
      context.write(first, last);
    }

    private static int afterLastSeparator(Text line) {
      int at = line.getLength();
      while (at > 0 && line.getBytes()[at - 1] != SEPARATOR) {
        at--;
      }
      return at;
    }
  }
}
