package org.vas.shuffle.model;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.daemon.ModelDaemon;
import org.vas.shuffle.reduce.EagerMerge;

/** Runs Hadoop's own ReduceTask with the plugin, over the outputs of the model's maps. */
final class ReduceAttempt {
  private static final int HANGS_SECONDS = 120;

  private final TaskAttemptID id;
  private final List<String> input;
  private final Throwable failure;

  private ReduceAttempt(TaskAttemptID id, List<String> input, Throwable failure) {
    this.id = id;
    this.input = input;
    this.failure = failure;
  }

  static void configure(JobConf job) {
    job.setClass(MRConfig.SHUFFLE_CONSUMER_PLUGIN, EagerMerge.class, ShuffleConsumerPlugin.class);
    job.setUseNewReducer(true);
    job.setClass(MRJobConfig.REDUCE_CLASS_ATTR, Records.Noting.class, Reducer.class);
    job.setClass(MRJobConfig.OUTPUT_FORMAT_CLASS_ATTR, NullOutputFormat.class, OutputFormat.class);
    job.setLong(MRJobConfig.TASK_PROGRESS_REPORT_INTERVAL, 20);
  }

  /** Runs it to its end, with that fault. */
  static ReduceAttempt run(JobConf job, TaskAttemptID id, int maps, Master master, NthCall fault)
      throws Exception {
    String ticket = UUID.randomUUID().toString();
    JobConf conf = new JobConf(job);
    configure(conf);
    conf.set(Records.ID, ticket);
    conf.set(MRJobConfig.ID, JobID.downgrade(id.getJobID()).toString());
    ReduceTask task = new ReduceTask("job.xml", id, id.getTaskID().getId(), maps, 1);
    task.setConf(conf);
    task.setShuffleSecret(ModelDaemon.secret());
    task.localizeConfiguration(conf);
    FutureTask<Throwable> end = new FutureTask<>(() -> failure(task, conf, master));
    Thread thread = new Thread(end, id.toString());
    thread.setDaemon(true);
    SharedFileSystem.inject(fault);
    try {
      thread.start();
      Throwable failure = end.get(HANGS_SECONDS, TimeUnit.SECONDS);
      return new ReduceAttempt(id, Records.take(ticket), failure);
    } finally {
      SharedFileSystem.heal();
      EagerMerge.closeAll();
    }
  }

  private static Throwable failure(ReduceTask task, JobConf conf, Master master) {
    try {
      task.run(conf, master.protocol());
      return null;
    } catch (Throwable e) { // the test looks at it, whatever it is
      return e;
    }
  }

  boolean succeeded() {
    return failure == null;
  }

  /** Whether it looks at every checksum before it leaves the shuffle. */
  boolean isRetry() {
    return id.getId() % 1000 > 0;
  }

  Throwable failure() {
    return failure;
  }

  List<String> input() {
    return input;
  }

  TaskAttemptID id() {
    return id;
  }
}
