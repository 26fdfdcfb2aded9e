package org.apache.spark.shuffle.vas;

import org.apache.spark.SparkConf;

/** The keys of Spark's configuration that VAS reads, and those that it sets. */
final class VasSparkConf {
  /**
   * The directory of the user's shuffle files: a path below the mount, or {@code lustre:///...}. On
   * YARN the default is the application's own directory in the user's staging directory.
   */
  static final String DIRECTORY = "spark.vas.shuffle.directory";
  /** Says whether a map is done only when its data is on the disks of the servers; default false. */
  static final String SYNC = "spark.vas.shuffle.sync-data";
  /** Bytes of indexes that an executor keeps in memory, at most. */
  static final String KEPT_INDEXES = "spark.vas.shuffle.kept-indexes";
  static final String KEPT_INDEXES_DEFAULT = "32m";
  /** The path of the application's directory, for executors; Spark puts its prefix before it. */
  static final String APPLICATION = "vas.application";
  /** The key of Spark that names the class of {@link VasShuffleDataIO}. */
  static final String PLUGIN = "spark.shuffle.sort.io.plugin.class";

  private static final String MASTER = "spark.master";
  private static final String CHECKSUM = "spark.shuffle.checksum.enabled";
  private static final String OLD_PROTOCOL = "spark.shuffle.useOldFetchProtocol";
  private static final String PUSH = "spark.shuffle.push.enabled";

  private VasSparkConf() {}

  /**
   * Sets what the shuffle manager needs, and refuses what contradicts it; returns the same object.
   *
   * @throws IllegalArgumentException with key, value and fix
   */
  static SparkConf prepared(SparkConf conf) {
    String plugin = VasShuffleDataIO.class.getName();
    conf.setIfMissing(PLUGIN, plugin);
    refuse(!conf.get(PLUGIN).equals(plugin), PLUGIN, conf,
        "leave it unset: " + VasShuffleManager.class.getName() + " brings its own");
    refuse(conf.getBoolean(OLD_PROTOCOL, false), OLD_PROTOCOL, conf,
        "with it two attempts of a map would have one name: set it to false");
    refuse(conf.getBoolean(PUSH, false), PUSH, conf,
        "pushed blocks would go past Lustre: set it to false");
    refuse(conf.get(DIRECTORY, "").isEmpty() && !conf.get(MASTER, "").equals("yarn"), DIRECTORY, conf,
        "name a directory of yours on Lustre that every node mounts at the same path");
    // Each 64 KiB has a checksum already, and only Spark's own resolver can look for the cause.
    conf.setIfMissing(CHECKSUM, "false");
    return conf;
  }

  private static void refuse(boolean wrong, String key, SparkConf conf, String fix) {
    if (wrong) {
      throw new IllegalArgumentException(key + " is '" + conf.get(key, "") + "': " + fix);
    }
  }
}
