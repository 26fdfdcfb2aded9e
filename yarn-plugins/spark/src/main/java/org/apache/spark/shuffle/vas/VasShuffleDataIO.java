package org.apache.spark.shuffle.vas;

import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.api.ShuffleDataIO;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;

/** Makes the two ends of the shuffle's write side; {@link VasShuffleManager} has Spark load it. */
public final class VasShuffleDataIO implements ShuffleDataIO {
  private final SparkConf conf;

  /** Makes the plugin of one driver or executor, as Spark does. */
  public VasShuffleDataIO(SparkConf conf) {
    this.conf = conf;
  }

  @Override
  public ShuffleDriverComponents driver() {
    return new VasDriverComponents(conf);
  }

  @Override
  public ShuffleExecutorComponents executor() {
    return new VasExecutorComponents(conf);
  }
}
