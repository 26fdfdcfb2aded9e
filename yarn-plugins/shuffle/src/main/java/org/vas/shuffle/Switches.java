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

  private static final String STOCK_COLLECTOR =
      "org.apache.hadoop.mapred.MapTask$MapOutputBuffer";

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

  /**
   * For a reduce task that reads stock's map output: whether stock's collector writes it.
   *
   * @throws IOException that names the key and its value
   */
  public static void checkStockCollector(Configuration job) throws IOException {
    String value = job.getTrimmed(JobContext.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, STOCK_COLLECTOR);
    if (!value.equals(STOCK_COLLECTOR)) {
      throw new IOException(JobContext.MAP_OUTPUT_COLLECTOR_CLASS_ATTR + " is '" + value
          + "'; leave it unset: the daemon serves the files of Hadoop's own collector");
    }
  }

  /**
   * For the two ends of node-local shuffle: whether it may be used at all.
   *
   * @throws IOException that names the key, where the site wants the wire encrypted
   */
  public static void checkPlainWire(Configuration conf) throws IOException {
    if (conf.getBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT)) {
      throw new IOException(MRConfig.SHUFFLE_SSL_ENABLED_KEY + " is true, and vas-shuffled has no"
          + " TLS: leave " + MRConfig.SHUFFLE_CONSUMER_PLUGIN + " unset");
    }
  }

  private static void check(Configuration job, String key, String needed) throws IOException {
    String value = job.getTrimmed(key, "");
    if (!value.equals(needed)) {
      throw new IOException(key + " is " + (value.isEmpty() ? "not set" : "'" + value + "'")
          + "; set it to " + needed + " alone: VAS's collector and merge only work together");
    }
  }
}
