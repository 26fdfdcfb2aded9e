package org.vas.shuffle.map;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A collector of VAS; a subclass says where its output goes. Jobs in uber mode and those of the local
 * runner get stock's, and so do jobs that {@code vas.shuffle.enabled} switches off.
 */
abstract class SortingCollector<K, V> implements MapOutputCollector<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(SortingCollector.class);

  private MapOutputCollector<K, V> delegate;

  /**
   * Refuses a job whose reducers would not read this collector's output.
   *
   * @throws IOException that names the key and its value
   */
  abstract void check(JobConf job) throws IOException;

  /** Opens the output of the attempt, which collects its records. */
  abstract MapOutput<K, V> open(Context context) throws IOException, ClassNotFoundException;

  @Override
  public final void init(Context context) throws IOException, ClassNotFoundException {
    check(context.getJobConf());
    String whyStock = CollectorRules.whyStock(context.getJobConf());
    if (whyStock == null) {
      delegate = open(context);
    } else {
      LOG.info("Map output goes to local disk, as in stock Hadoop: {}", whyStock);
      delegate = new MapTask.MapOutputBuffer<>();
      delegate.init(context);
    }
  }

  @Override
  public final void collect(K key, V value, int partition)
      throws IOException, InterruptedException {
    delegate.collect(key, value, partition);
  }

  @Override
  public final void flush() throws IOException, InterruptedException, ClassNotFoundException {
    delegate.flush();
  }

  @Override
  public final void close() throws IOException, InterruptedException {
    delegate.close();
  }
}
