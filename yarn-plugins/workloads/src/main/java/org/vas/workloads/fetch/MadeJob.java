package org.vas.workloads.fetch;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.lib.NullOutputFormat;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.yarn.api.records.ApplicationId;

/**
 * The made-up job that the measured map output belongs to: its names, its secret and configuration.
 */
final class MadeJob {
  static final ApplicationId APPLICATION = ApplicationId.newInstance(17, 3);
  static final JobID ID = new JobID("17", 3);
  static final String USER = "vas";
  /** The job's shuffle secret; it guards only made-up bytes, so everyone may know it. */
  static final byte[] SECRET = "the secret of vas bench".getBytes(StandardCharsets.US_ASCII);

  private MadeJob() {}

  static TaskAttemptID map(int number) {
    return new TaskAttemptID(ID.getJtIdentifier(), ID.getId(), TaskType.MAP, number, 0);
  }

  /** Returns the first attempt: a later one gets segments where it asks the daemon to merge. */
  static TaskAttemptID reduce(int partition) {
    return new TaskAttemptID(ID.getJtIdentifier(), ID.getId(), TaskType.REDUCE, partition, 0);
  }

  /** Returns the job's directory below a NodeManager's local directory. */
  static Path directory(Path local) {
    return local.resolve("usercache").resolve(USER).resolve("appcache")
        .resolve(APPLICATION.toString());
  }

  /** Returns the configuration of the job's tasks on the node with this local directory. */
  static JobConf conf(Path local, int maps, int reducers) {
    JobConf job = new JobConf();
    job.set(MRConfig.LOCAL_DIR, directory(local).toString());
    job.set(MRConfig.FRAMEWORK_NAME, MRConfig.YARN_FRAMEWORK_NAME);
    job.set(MRJobConfig.ID, ID.toString());
    job.set(MRJobConfig.MAPREDUCE_JOB_DIR, local.resolve("staging").toUri().toString());
    job.setUser(USER);
    job.setNumMapTasks(maps);
    job.setNumReduceTasks(reducers);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputFormat(NullOutputFormat.class);
    return job;
  }
}
