package org.vas.workloads.tool;

import java.io.IOException;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;

/** {@code NAME INPUT OUTPUT}: a program that is one job, from a directory to a new one. */
public abstract class OneJob extends Configured implements Tool {
  private static final int ARGUMENTS = 2;
  private static final int USAGE = 2;
  private static final int FAILED = 1;

  private final String name;
  private final String about;

  /** Makes a job with its name and the usage lines that say what it reads and writes. */
  protected OneJob(String name, String about) {
    this.name = name;
    this.about = about;
  }

  /** Configures the job's classes; its input and output are set already. */
  protected abstract void prepare(Job job);

  /** Returns the job, as {@link #run} submits it. */
  public final Job job(Path input, Path output) throws IOException {
    Job job = Job.getInstance(getConf(), name);
    job.setJarByClass(getClass());
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
    prepare(job);
    return job;
  }

  /** Runs the job; the result is the exit status: 2 for other arguments than two. */
  @Override
  public final int run(String[] args) throws Exception {
    if (args.length != ARGUMENTS) {
      System.err.println("usage: " + name + " [-D NAME=VALUE]... INPUT OUTPUT\n" + about);
      return USAGE;
    }
    return job(new Path(args[0]), new Path(args[1])).waitForCompletion(true) ? 0 : FAILED;
  }
}
