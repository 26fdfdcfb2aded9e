package org.vas.workloads.data;

import java.io.IOException;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.vas.workloads.numbered.NumberedMaps;

/**
 * {@code Generate KIND BYTES FILES SEED OUTPUT}: writes text, the input of the project's own jobs.
 */
public final class Generate extends Configured implements Tool {
  static final String KIND = "generate.kind";
  static final String BYTES = "generate.bytes";
  static final String FILES = "generate.files";
  static final String SEED = "generate.seed";
  private static final int ARGUMENTS = 5;
  private static final int MOST_FILES = 100_000;
  private static final int USAGE = 2;
  private static final int FAILED = 1;
  private static final String TEXT = "usage: generate [-D NAME=VALUE]..."
      + " associations|documents|edges BYTES FILES SEED OUTPUT\n"
      + "Writes whole lines to so many files of the same size, about BYTES (256m) in all and never"
      + " more.\nThe same arguments make the same bytes.";

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new Generate(), args));
  }

  @Override
  public int run(String[] args) throws Exception {
    Job job;
    try {
      job = job(args);
    } catch (IllegalArgumentException wrong) {
      System.err.println(wrong.getMessage() + "\n" + TEXT);
      return USAGE;
    }
    return job.waitForCompletion(true) ? 0 : FAILED;
  }

  /**
   * Returns the job that writes the text.
   *
   * @param args KIND BYTES FILES SEED OUTPUT
   * @throws IllegalArgumentException that says which of them is wrong
   */
  public Job job(String... args) throws IOException {
    if (args.length != ARGUMENTS) {
      throw new IllegalArgumentException(args.length + " arguments instead of " + ARGUMENTS);
    }
    Job job = Job.getInstance(getConf(), "generate " + args[0]);
    Configuration conf = job.getConfiguration();
    conf.setEnum(KIND, kind(args[0]));
    conf.setLong(BYTES, number("BYTES", args[1], 1, Long.MAX_VALUE));
    conf.setInt(FILES, (int) number("FILES", args[2], 1, MOST_FILES));
    conf.setLong(SEED, number("SEED", args[3], 0, Long.MAX_VALUE));
    NumberedMaps.setMaps(conf, conf.getInt(FILES, 1));
    job.setJarByClass(Generate.class);
    job.setInputFormatClass(NumberedMaps.class);
    job.setMapperClass(OneFile.class);
    job.setNumReduceTasks(0);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileOutputFormat.setOutputPath(job, new Path(args[4]));
    return job;
  }

  private static InputKind kind(String name) {
    for (InputKind kind : InputKind.values()) {
      if (name.equals(kind.name().toLowerCase(Locale.ROOT))) {
        return kind;
      }
    }
    throw new IllegalArgumentException("'" + name + "' is not a kind of input");
  }

  private static long number(String name, String text, long least, long most) {
    try {
      long value = TraditionalBinaryPrefix.string2long(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException wrong) {
      throw new IllegalArgumentException(name + ": '" + text + "' is not a number", wrong);
    }
    throw new IllegalArgumentException(name + ": give " + least + " to " + most);
  }
}
