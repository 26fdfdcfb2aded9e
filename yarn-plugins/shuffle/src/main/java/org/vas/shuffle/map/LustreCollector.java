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
 *
 * <pre>{@code
 * LustreCollector --> MapTask.MapOutputBuffer    stock's, for the jobs above
 *                `--> MapOutput                  collects and sorts one attempt's records
 *                      |-- RecordBuffer, Entries   serialized records, and where each starts
 *                      |-- Ledger                  what each partition must hold
 *                      |-- Runs                    sorts a buffer, writes it, merges runs
 *                      |    |-- Combine            the job's combiner
 *                      |    |-- MofSet, MofPolicy  a run's files, and how they are laid out
 *                      |    `-- RunMerger          merges runs when there are too many
 *                      `-- Publisher               checks all runs, publishes the manifest
 *                           `-- AttemptFiles       the attempt's directory
 * }</pre>
 */
public class LustreCollector<K, V> implements MapOutputCollector<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(LustreCollector.class);

  private MapOutputCollector<K, V> delegate;

  @Override
  public void init(Context context) throws IOException, ClassNotFoundException {
    CollectorRules.check(context.getJobConf());
    String whyStock = CollectorRules.whyStock(context.getJobConf());
    if (whyStock == null) {
      delegate = open(context);
    } else {
      LOG.info("Map output goes to local disk, as in stock Hadoop: {}", whyStock);
      delegate = new MapTask.MapOutputBuffer<>();
      delegate.init(context);
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
    delegate.collect(key, value, partition);
  }

  @Override
  public void flush() throws IOException, InterruptedException, ClassNotFoundException {
    delegate.flush();
  }

  @Override
  public void close() throws IOException, InterruptedException {
    delegate.close();
  }
}
