package org.apache.spark.shuffle.vas;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/**
 * Spark's shuffle with the map output on Lustre: {@code spark.shuffle.manager} names this class, and
 * {@code spark.vas.shuffle.directory} the place.
 *
 * <p>Spark's own writers sort and merge, and write to {@link VasMapOutputWriter} at the end. Spark's
 * own reader fetches, decrypts, decompresses and merges, and gets its bytes of {@link
 * VasBlockResolver}, as if all of them were its executor's own. So no executor asks another one, and
 * none that is lost takes map output along.
 *
 * <p>It is one of Spark's own kind, because SQL copies each row before it is written for managers
 * of other kinds.
 */
public final class VasShuffleManager extends SortShuffleManager {
  private final VasBlockResolver resolver;

  /**
   * Makes the manager of a driver or an executor, as Spark does; sets in the configuration what it
   * needs.
   *
   * @throws IllegalArgumentException with key, value and fix, if something contradicts it
   */
  public VasShuffleManager(SparkConf conf, boolean isDriver) {
    super(VasSparkConf.prepared(conf));
    this.resolver = new VasBlockResolver(conf);
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffle, ShuffleDependency<K, V, C> dependency) {
    return new VasShuffleHandle<>(
        shuffle, dependency, super.registerShuffle(shuffle, dependency));
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(ShuffleHandle handle, long task, TaskContext context,
      ShuffleWriteMetricsReporter metrics) {
    VasShuffleHandle<?, ?, ?> own = (VasShuffleHandle<?, ?, ?>) handle;
    return new RelocatingWriter<>(
        super.getWriter(own.sparks(), task, context, metrics), own.work());
  }

  @Override
  @SuppressWarnings("unchecked") // A handle is what registerShuffle made of this dependency.
  public <K, C> ShuffleReader<K, C> getReader(ShuffleHandle handle, int startMap, int endMap,
      int startPartition, int endPartition, TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    MapLocations locations = MapLocations.of(SparkEnv.get().mapOutputTracker()
        .getMapSizesByExecutorId(
            handle.shuffleId(), startMap, endMap, startPartition, endPartition), startPartition);
    return new VasShuffleReader<>((VasShuffleHandle<K, ?, C>) handle, locations, context, metrics,
        canUseBatchFetch(startPartition, endPartition, context));
  }

  @Override
  public boolean unregisterShuffle(int shuffle) {
    resolver.forget(shuffle);
    return super.unregisterShuffle(shuffle);
  }

  @Override
  public IndexShuffleBlockResolver shuffleBlockResolver() {
    return resolver;
  }
}
