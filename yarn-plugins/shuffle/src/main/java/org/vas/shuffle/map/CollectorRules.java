package org.vas.shuffle.map;

import java.io.IOException;
import java.util.ServiceConfigurationError;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.conf.ConfKey;
import org.vas.shuffle.ShuffleConf;
import org.vas.shuffle.mof.ShuffleDirs;

/** Decides which jobs the collector serves, and which it refuses. */
final class CollectorRules {
  private static final Logger LOG = LoggerFactory.getLogger(CollectorRules.class);
  private static final int LARGEST_SORT_MB = 2047;
  // A key without a constant, set by the application master's LocalContainerLauncher.
  private static final String UBERIZED = "mapreduce.task.uberized";
  // Hadoop 3.3 has no constants for these.
  private static final String MAP_SORT_CLASS = "map.sort.class";
  private static final String SPILL_FILES_COUNT_LIMIT = "mapreduce.task.spill.files.count.limit";
  private static final String[] IGNORED = {
      JobContext.MAP_SORT_SPILL_PERCENT, MAP_SORT_CLASS,
      JobContext.INDEX_CACHE_MEMORY_LIMIT, SPILL_FILES_COUNT_LIMIT};

  private CollectorRules() {}

  /**
   * Returns why the task writes stock's map output, which its reducer reads; null if it writes
   * VAS's.
   */
  static String whyStock(JobConf job) {
    if (!ShuffleConf.ENABLED.get(job)) {
      return ShuffleConf.ENABLED.name() + " is false";
    }
    if (job.getBoolean(UBERIZED, false)) {
      return "the job runs in its application master (uber mode)";
    }
    String framework = job.get(MRConfig.FRAMEWORK_NAME, MRConfig.LOCAL_FRAMEWORK_NAME);
    return MRConfig.LOCAL_FRAMEWORK_NAME.equals(framework)
        ? MRConfig.FRAMEWORK_NAME + " is " + framework : null;
  }

  /** Checks whether the consumer of a job reads what a collector writes. */
  @FunctionalInterface
  interface ConsumerCheck {
    void check(JobConf job) throws IOException;
  }

  /**
   * Throws if a job's configuration would end in wrong or mixed map outputs. In a job that {@code
   * vas.shuffle.enabled} switches off all outputs are stock's, so only retired keys are refused.
   *
   * @throws ServiceConfigurationError for a list of collectors: an exception would make MapTask try
   *     the next one, whose output no reducer of this job could read
   * @throws IOException that names the key, if the reducers read other output or are too many
   * @throws IllegalArgumentException that names a retired key
   */
  static void check(JobConf job, Class<?> collector, ConsumerCheck consumer) throws IOException {
    ConfKey.refuseRetired(job, ShuffleConf.class);
    if (!ShuffleConf.ENABLED.get(job)) {
      return;
    }
    String[] collectors = job.getTrimmedStrings(JobContext.MAP_OUTPUT_COLLECTOR_CLASS_ATTR);
    if (collectors.length > 1) {
      throw new ServiceConfigurationError(JobContext.MAP_OUTPUT_COLLECTOR_CLASS_ATTR
          + " lists " + collectors.length + " classes; name " + collector.getName()
          + " alone, or no output is sure to be in its format");
    }
    consumer.check(job);
    if (job.getNumReduceTasks() > Entries.MAX_PARTITIONS) {
      throw new IOException(MRJobConfig.NUM_REDUCES + " is " + job.getNumReduceTasks()
          + "; at most " + Entries.MAX_PARTITIONS + " are possible");
    }
    for (String key : IGNORED) {
      if (job.get(key) != null) {
        LOG.debug("{} has no meaning for {}", key, collector.getName());
      }
    }
  }

  /**
   * Returns the memory that records may take, in bytes.
   * @throws IOException that names the key, if its value is out of bounds
   */
  static long bufferBytes(JobConf job) throws IOException {
    int mebibytes = job.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB);
    if (mebibytes < 1 || mebibytes > LARGEST_SORT_MB) {
      throw new IOException("Invalid \"" + MRJobConfig.IO_SORT_MB + "\": " + mebibytes
          + "; use 1 to " + LARGEST_SORT_MB);
    }
    return (long) mebibytes << 20;
  }

  /**
   * Returns the file system of the staging directory, which every node has to see.
   * @throws IOException that names the key, if the directory is on this machine's own disk
   */
  static FileSystem fileSystem(JobConf job, ShuffleDirs dirs) throws IOException {
    Path jobDir = dirs.jobDir();
    FileSystem fs = jobDir.getFileSystem(job);
    if ("file".equals(fs.getUri().getScheme()) && !ShuffleConf.LOCAL_STAGING.get(job)) {
      throw new IOException(jobDir + " is on this machine's own disk, where no reducer sees it; put"
          + " " + MRJobConfig.MR_AM_STAGING_DIR + " on Lustre");
    }
    return fs;
  }
}
