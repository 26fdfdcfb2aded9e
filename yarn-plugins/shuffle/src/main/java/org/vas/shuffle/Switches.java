package org.vas.shuffle;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRConfig;

/**
 * The two keys that switch the shuffle on. One without the other would make each reducer take every
 * map output for lost, and MapReduce run the maps again until the job fails.
 */
public final class Switches {
  private static final String COLLECTOR = "org.vas.shuffle.map.LustreCollector";
  private static final String CONSUMER = "org.vas.shuffle.reduce.LustreMerge";

  private Switches() {}

  /**
   * For a map task: whether its job's reducers read our map output.
   *
   * @throws IOException that names the key and its value
   */
  public static void checkConsumer(Configuration job) throws IOException {
    check(job, MRConfig.SHUFFLE_CONSUMER_PLUGIN, CONSUMER);
  }

  /**
   * For a reduce task: whether all map output of its job is ours.
   *
   * @throws IOException that names the key and its value
   */
  public static void checkCollector(Configuration job) throws IOException {
    check(job, JobContext.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, COLLECTOR);
  }

  private static void check(Configuration job, String key, String needed) throws IOException {
    String value = job.getTrimmed(key, "");
    if (!value.equals(needed)) {
      throw new IOException(key + " is " + (value.isEmpty() ? "not set" : "'" + value + "'")
          + "; set it to " + needed + " alone: VAS's collector and merge only work together");
    }
  }
}
