package org.vas.shuffle.model;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.YarnOutputFiles;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.vas.shuffle.daemon.ModelDaemon;
import org.vas.shuffle.map.LocalCollector;
import org.vas.shuffle.node.RealDaemon;
import org.vas.shuffle.reduce.EagerMerge;

/**
 * The disks of one node, whose maps write stock's layout by LocalCollector, and the real daemon. Calls
 * of its file system do not fail one by one.
 */
final class NodeModelMedium extends ModelMedium implements Closeable {
  // It waits longer after each end that came soon.
  private static final int MOST_KILLS = 3;

  private final RealDaemon daemon;
  private final String delivery;
  private int kills;

  /** Makes the medium of jobs whose map output the daemon delivers as {@code segments} or {@code merged}. */
  NodeModelMedium(Path directory, String delivery) throws IOException {
    this.delivery = delivery;
    daemon = new RealDaemon(directory.resolve("nm"), ApplicationId.newInstance(1, 1),
        ModelDaemon.secret().getEncoded());
  }

  @Override
  String machine() {
    return "localhost";
  }

  @Override
  void configure(JobConf job) throws IOException {
    job.set("mapreduce.job.map.output.collector.class", LocalCollector.class.getName());
    job.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, "org.vas.shuffle.reduce.NodeMerge");
    job.setClass(MRConfig.TASK_LOCAL_OUTPUT_CLASS, YarnOutputFiles.class,
        org.apache.hadoop.mapred.MapOutputFile.class);
    job.set(MRConfig.LOCAL_DIR, daemon.jobDirectory().toString());
    job.set("vas.shuffled.patience", "60s");
    job.set("vas.shuffled.delivery", delivery);
    job.setBoolean(EagerMerge.NODE, true);
  }

  @Override
  Path directory(JobConf job, TaskAttemptID attempt) {
    return Path.of(job.get(MRConfig.LOCAL_DIR)).resolve("output").resolve(attempt.toString());
  }

  /** The map's node reads all of a segment before the merge. */
  @Override
  boolean looksAtEndsOnly() {
    return false;
  }

  /** Stock's files do not say which attempt wrote them. */
  @Override
  boolean finds(int kind) {
    return Damage.kindOf(kind) != Damage.SWAP;
  }

  @Override
  NthCall meets(int number, Runnable other) {
    return NthCall.atPoll(1 + number % 3, other);
  }

  @Override
  synchronized void kill() {
    if (kills < MOST_KILLS) {
      kills += daemon.kill();
    }
  }

  @Override
  public void close() {
    daemon.close();
  }
}
