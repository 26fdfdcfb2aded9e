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

  private static final String LOCAL_COLLECTOR = "org.vas.shuffle.map.LocalCollector";
  private static final String NODE_CONSUMER = "org.vas.shuffle.reduce.NodeMerge";
  private static final String STOCK_CONSUMER = "org.apache.hadoop.mapreduce.task.reduce.Shuffle";
  private static final String STOCK_COLLECTOR =
      "org.apache.hadoop.mapred.MapTask$MapOutputBuffer";

  private Switches() {}

  /**
   * Checks, for a map task, that its job's reducers read what LustreCollector writes.
   *
   * @throws IOException that names the key and its value, if they do not
   */
  public static void checkConsumer(Configuration job) throws IOException {
    check(job, MRConfig.SHUFFLE_CONSUMER_PLUGIN, CONSUMER);
  }

  /**
   * Checks, for a reduce task, that LustreCollector writes all map output of its job.
   *
   * @throws IOException that names the key and its value, if it does not
   */
  public static void checkCollector(Configuration job) throws IOException {
    check(job, JobContext.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, COLLECTOR);
  }

  /**
   * Checks, for a reduce task that reads map output on the nodes' disks, that a collector of
   * stock's layout writes it.
   *
   * @throws IOException that names the key and its value, if none does
   */
  public static void checkStockLayout(Configuration job) throws IOException {
    String value = job.getTrimmed(JobContext.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, STOCK_COLLECTOR);
    if (!value.equals(STOCK_COLLECTOR) && !value.equals(LOCAL_COLLECTOR)) {
      throw new IOException(JobContext.MAP_OUTPUT_COLLECTOR_CLASS_ATTR + " is '" + value
          + "'; leave it unset, or set it to " + LOCAL_COLLECTOR + ": the daemon serves files as"
          + " Hadoop's own collector writes them");
    }
  }

  /**
   * Checks, for a map task that writes stock's layout to the node's disks, that its job's reducers
   * read that.
   *
   * @throws IOException that names the key and its value, if they do not
   */
  public static void checkNodeConsumer(Configuration job) throws IOException {
    String value = job.getTrimmed(MRConfig.SHUFFLE_CONSUMER_PLUGIN, STOCK_CONSUMER);
    if (!value.equals(STOCK_CONSUMER) && !value.equals(NODE_CONSUMER)) {
      throw new IOException(MRConfig.SHUFFLE_CONSUMER_PLUGIN + " is '" + value
          + "'; leave it unset, or set it to " + NODE_CONSUMER + ": " + LOCAL_COLLECTOR
          + " writes to the node's disks");
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
