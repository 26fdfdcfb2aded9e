package org.vas.workloads.words;

import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.map.RegexMapper;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.apache.hadoop.util.ToolRunner;
import org.vas.workloads.tool.OneJob;

/**
 * {@code Grep INPUT OUTPUT}: the first of the two jobs of Hadoop's example, which counts what
 * matches {@code mapreduce.mapper.regex}; the second only orders these counts.
 */
public final class Grep extends OneJob {
  private static final String USUAL = "un[a-z]*";

  /** Makes the job with its name and usage text. */
  public Grep() {
    super("grep", "Counts what matches " + RegexMapper.PATTERN + " (" + USUAL
        + ") in text: MATCH, tab, COUNT.");
  }

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new Grep(), args));
  }

  @Override
  protected void prepare(Job job) {
    job.getConfiguration().setIfUnset(RegexMapper.PATTERN, USUAL);
    job.setMapperClass(RegexMapper.class);
    job.setCombinerClass(LongSumReducer.class);
    job.setReducerClass(LongSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(LongWritable.class);
  }
}
