package org.vas.workloads.probe;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobClient;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** {@code Probe [-D probe.X=Y]... OUTPUT}: two right shuffles write the same bytes. */
public final class Probe extends Configured implements Tool {
  private static final String NAME = "probe";

  /** Runs the job; the exit status is its result. */
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new Probe(), args));
  }

  @Override
  public int run(String[] args) throws Exception {
    if (args.length != 1) {
      System.err.println("usage: probe [-D probe.X=Y]... OUTPUT");
      return 2;
    }
    Path output = new Path(args[0]);
    boolean old = ProbeConf.OLD_API.get(getConf());
    return (old ? runOld(output) : runNew(output)) ? 0 : 1;
  }

  private boolean runNew(Path output) throws Exception {
    Configuration conf = getConf();
    Job job = Job.getInstance(conf, NAME);
    job.setJarByClass(Probe.class);
    job.setInputFormatClass(NewInput.Numbers.class);
    job.setMapperClass(NewMapper.class);
    job.setMapOutputKeyClass(BytesWritable.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setPartitionerClass(FirstBytePartitioner.class);
    boolean combine = ProbeConf.COMBINE.get(conf);
    job.setReducerClass(combine ? NewReducers.Least.class : NewReducers.Digest.class);
    if (combine) {
      job.setCombinerClass(NewReducers.Least.class);
    }
    if (ProbeConf.GROUPED.get(conf)) {
      job.setSortComparatorClass(Backwards.class);
      job.setGroupingComparatorClass(FirstBytes.class);
    }
    job.setOutputKeyClass(BytesWritable.class);
    job.setOutputValueClass(combine ? BytesWritable.class : Text.class);
    org.apache.hadoop.mapreduce.lib.output.FileOutputFormat.setOutputPath(job, output);
    return job.waitForCompletion(true);
  }

  private boolean runOld(Path output) throws Exception {
    JobConf job = new JobConf(getConf(), Probe.class);
    job.setJobName(NAME);
    job.setInputFormat(OldApi.Numbers.class);
    job.setMapperClass(OldApi.Emit.class);
    job.setMapOutputKeyClass(BytesWritable.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setPartitionerClass(FirstBytePartitioner.class);
    boolean combine = ProbeConf.COMBINE.get(job);
    job.setReducerClass(combine ? OldApi.Least.class : OldApi.Digest.class);
    if (combine) {
      job.setCombinerClass(OldApi.Least.class);
    }
    if (ProbeConf.GROUPED.get(job)) {
      job.setOutputKeyComparatorClass(Backwards.class);
      job.setOutputValueGroupingComparator(FirstBytes.class);
    }
    job.setOutputKeyClass(BytesWritable.class);
    job.setOutputValueClass(combine ? BytesWritable.class : Text.class);
    FileOutputFormat.setOutputPath(job, output);
    return JobClient.runJob(job).isSuccessful();
  }
}
