package org.vas.workloads.words;

import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.util.ToolRunner;
import org.vas.workloads.tool.OneJob;

/** {@code PlainWordCount INPUT OUTPUT}: Hadoop's example without its combiner. */
public final class PlainWordCount extends OneJob {
  /** Makes the job with its name and usage text. */
  public PlainWordCount() {
    super("plainwordcount", "Counts the words of text: WORD, tab, COUNT.");
  }

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new PlainWordCount(), args));
  }

  @Override
  protected void prepare(Job job) {
    job.setMapperClass(TokenCounterMapper.class);
    job.setReducerClass(IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
  }
}
