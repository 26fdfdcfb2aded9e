package org.vas.workloads.heavy;

import java.io.IOException;
import java.util.StringTokenizer;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.util.ToolRunner;
import org.vas.workloads.tool.OneJob;

/**
 * {@code SequenceCount INPUT OUTPUT}: counts how often each three words stand in a document in a
 * row.
 */
public final class SequenceCount extends OneJob {
  private static final char SEPARATOR = '|';

  /** Makes the job with its name and usage text. */
  public SequenceCount() {
    super("sequencecount", "Reads lines of a document each: NAME, tab, its words. Writes"
        + " WORD|WORD|WORD|NAME, tab,\nhow often these three words stand in it in a row.");
  }

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new SequenceCount(), args));
  }

  @Override
  protected void prepare(Job job) {
    job.setInputFormatClass(KeyValueTextInputFormat.class);
    job.setMapperClass(Sequences.class);
    job.setCombinerClass(IntSumReducer.class);
    job.setReducerClass(IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
  }

  /** Emits each three words in a row, with a 1. */
  public static final class Sequences extends Mapper<Text, Text, Text, IntWritable> {
    private final Text sequence = new Text();
    private final IntWritable one = new IntWritable(1);

    @Override
    protected void map(Text name, Text words, Context context)
        throws IOException, InterruptedException {
      String first = null;
      String second = null;
      for (StringTokenizer rest = new StringTokenizer(words.toString()); rest.hasMoreTokens();) {
        String third = rest.nextToken();
        if (first != null) {
          sequence.set(first + SEPARATOR + second + SEPARATOR + third + SEPARATOR + name);
          context.write(sequence, one);
        }
        first = second;
        second = third;
      }
    }
  }
}
