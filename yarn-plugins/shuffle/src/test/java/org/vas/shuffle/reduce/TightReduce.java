package org.vas.shuffle.reduce;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.Reducer;

/** The program of {@link MemoryBoundTest}: one reduce attempt in a JVM with little memory. */
public final class TightReduce {
  static final String MEDIUM = "test.medium";

  private static long records;
  private static long bytes;

  private TightReduce() {}

  /**
   * Prints records, bytes and passes; its arguments are a directory, maps, a budget, and reducers.
   * With a fifth reduce() fails, as a job's own may.
   */
  public static void main(String[] arguments) throws Exception {
    int maps = Integer.parseInt(arguments[1]);
    Path dir = Path.of(arguments[0]);
    boolean node = System.getProperty(MEDIUM).equals("node");
    ReduceHarness harness = (node ? new NodeHarness(dir, maps) : new ReduceHarness(dir, maps)).newApi();
    configure(harness, Long.parseLong(arguments[2]));
    harness.job.setNumReduceTasks(Integer.parseInt(arguments[3]));
    if (arguments.length > 4) {
      harness.job.setClass(MRJobConfig.REDUCE_CLASS_ATTR, Failing.class, Reducer.class);
    }
    for (int map = 0; map < maps; map++) {
      harness.umbilical.event(ReduceHarness.map(map, 0), Status.SUCCEEDED);
    }
    harness.run();
    System.out.println("records=" + records + " bytes=" + bytes + " passes="
        + (harness.counter("PASSES") > 0));
  }

  static void configure(ReduceHarness harness, long budget) {
    harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, budget);
    harness.job.setFloat(MRJobConfig.SHUFFLE_INPUT_BUFFER_PERCENT, 1);
    harness.job.setInt("vas.shuffle.merge-percent", 100);
    harness.job.setClass(MRJobConfig.REDUCE_CLASS_ATTR, Counting.class, Reducer.class);
  }

  /** A reducer that fails in the middle. */
  public static final class Failing extends Reducer<Text, Text, NullWritable, NullWritable> {
    @Override
    protected void reduce(Text key, Iterable<Text> values, Context context) throws IOException {
      if (++records == 100) {
        throw new IOException("this reduce() fails");
      }
    }
  }

  /** Counts records, and checks that keys come in order. */
  public static final class Counting extends Reducer<Text, Text, NullWritable, NullWritable> {
    private Text before = new Text();

    @Override
    protected void reduce(Text key, Iterable<Text> values, Context context) throws IOException {
      if (key.compareTo(before) < 0) {
        throw new IOException(key + " after " + before);
      }
      before = new Text(key);
      for (Text value : values) {
        records++;
        bytes += value.getLength();
      }
    }
  }
}
