package org.vas.shuffle.map;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.vas.shuffle.Switches;
import org.vas.shuffle.mof.SegmentWriter;

/**
 * Writes map output to Lustre; the class to name in
 * {@code mapreduce.job.map.output.collector.class}.
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
public class LustreCollector<K, V> extends SortingCollector<K, V> {
  @Override
  void check(JobConf job) throws IOException {
    CollectorRules.check(job, LustreCollector.class, Switches::checkConsumer);
  }

  // Tests take the guard away here.
  @Override
  MapOutput<K, V> open(Context context) throws IOException, ClassNotFoundException {
    return new MapOutput<>(context, new Ledger(context.getJobConf().getNumReduceTasks()),
        new SegmentWriter(context.getJobConf()));
  }
}
