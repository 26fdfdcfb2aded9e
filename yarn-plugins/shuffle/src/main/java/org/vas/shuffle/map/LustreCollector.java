package org.vas.shuffle.map;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.mof.SegmentWriter;

/**
 * Map output on Lustre: the class to name in {@code mapreduce.job.map.output.collector.class}.
 *
 * <p>Jobs in uber mode and those of the local runner get stock's collector, because their reducers
 * read map outputs from local disk. So do jobs that {@code vas.shuffle.enabled} switches off.
 */
public class LustreCollector<K, V> implements MapOutputCollector<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(LustreCollector.class);

  private MapOutputCollector<K, V> stock;
  private MapOutput<K, V> output;

  @Override
  public void init(Context context) throws IOException, ClassNotFoundException {
    CollectorRules.check(context.getJobConf());
    String whyStock = CollectorRules.whyStock(context.getJobConf());
    if (whyStock == null) {
      output = open(context);
    } else {
      LOG.info("Map output goes to local disk, as in stock Hadoop: {}", whyStock);
      stock = new MapTask.MapOutputBuffer<>();
      stock.init(context);
    }
  }

  // Tests take the guard away here.
  MapOutput<K, V> open(Context context) throws IOException, ClassNotFoundException {
    JobConf job = context.getJobConf();
    return new MapOutput<>(
        context, new Ledger(job.getNumReduceTasks()), new SegmentWriter(job));
  }

  @Override
  public void collect(K key, V value, int partition) throws IOException, InterruptedException {
    if (stock == null) {
      output.collect(key, value, partition);
    } else {
      stock.collect(key, value, partition);
    }
  }

  @Override
  public void flush() throws IOException, InterruptedException, ClassNotFoundException {
    if (stock == null) {
      output.flush();
    } else {
      stock.flush();
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    if (stock == null) {
      output.close();
    } else {
      stock.close();
    }
  }
}
