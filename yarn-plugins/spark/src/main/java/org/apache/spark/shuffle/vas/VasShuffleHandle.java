package org.apache.spark.shuffle.vas;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;

/** One of Spark's handles, by which it chooses a writer, and what the tasks of the shuffle count. */
final class VasShuffleHandle<K, V, C> extends BaseShuffleHandle<K, V, C> {
  private static final long serialVersionUID = 1;

  private final ShuffleHandle sparks;
  private final ShuffleWork work = new ShuffleWork();

  /** Makes the handle in the driver, and has its application show what is counted. */
  VasShuffleHandle(int shuffle, ShuffleDependency<K, V, C> dependency, ShuffleHandle sparks) {
    super(shuffle, dependency);
    this.sparks = sparks;
    dependency.rdd().context().register(work, "map output on Lustre, shuffle " + shuffle);
  }

  /** Returns Spark's own handle. */
  ShuffleHandle sparks() {
    return sparks;
  }

  /** Returns what is counted: in a task its own, in the driver the sum. */
  ShuffleWork work() {
    return work;
  }
}
