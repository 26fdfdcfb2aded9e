package org.vas.workloads.probe;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.vas.workloads.numbered.NumberedMaps;

/**
 * {@code ShuffleProbe [-D probe.X=Y]... OUTPUT}: runs a job whose output is the same bytes with
 * every correct shuffle.
 */
public final class ShuffleProbe extends Configured implements Tool {
  private static final String NAME = "probe";

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new ShuffleProbe(), args));
  }

  @Override
  public int run(String[] args) throws Exception {
    if (args.length != 1) {
      System.err.println("usage: probe [-D probe.X=Y]... OUTPUT");
      return 2;
    }
    return Job.getInstance(job(getConf(), new Path(args[0]))).waitForCompletion(true) ? 0 : 1;
  }

  /** Returns the probe job that this configuration asks for. */
  public static JobConf job(Configuration conf, Path output) throws IOException {
    JobConf job = ProbeConf.OLD_API.get(conf) ? oldApi(conf) : newApi(conf);
    job.setJobName(NAME);
    job.setJarByClass(ShuffleProbe.class);
    job.setMapOutputKeyClass(BytesWritable.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setOutputKeyClass(BytesWritable.class);
    job.setOutputValueClass(Text.class);
    FileOutputFormat.setOutputPath(job, output);
    return job;
  }

  private static JobConf newApi(Configuration conf) throws IOException {
    Job job = Job.getInstance(conf);
    NumberedMaps.setMaps(job.getConfiguration(), ProbeConf.MAPS.get(conf));
    job.setInputFormatClass(NumberedMaps.class);
    job.setMapperClass(NewMapper.class);
    job.setPartitionerClass(FirstBytePartitioner.class);
    job.setReducerClass(NewReducers.Digest.class);
    if (ProbeConf.COMBINE.get(conf)) {
      job.setCombinerClass(NewReducers.Least.class);
    }
    if (ProbeConf.GROUPED.get(conf)) {
      job.setSortComparatorClass(Backwards.class);
      job.setGroupingComparatorClass(FirstBytes.class);
      job.setCombinerKeyGroupingComparatorClass(FirstBytes.class);
    }
    return new JobConf(job.getConfiguration());
  }

  private static JobConf oldApi(Configuration conf) {
    JobConf job = new JobConf(conf);
    job.setInputFormat(OldApi.NumberedInput.class);
    job.setMapperClass(OldApi.Emit.class);
    job.setPartitionerClass(FirstBytePartitioner.class);
    job.setReducerClass(OldApi.DigestReducer.class);
    if (ProbeConf.COMBINE.get(conf)) {
      job.setCombinerClass(OldApi.LeastCombiner.class);
    }
    if (ProbeConf.GROUPED.get(conf)) {
      job.setOutputKeyComparatorClass(Backwards.class);
      job.setOutputValueGroupingComparator(FirstBytes.class);
      job.setCombinerKeyGroupingComparator(FirstBytes.class);
    }
    return job;
  }
}
