package org.vas.shuffle.map;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.vas.shuffle.Switches;
import org.vas.shuffle.mof.SegmentWriter;

/**
 * Writes map output to the node's own disks, in stock's files: file.out, with one segment for each
 * partition, and file.out.index. Hadoop's shuffle service and {@code vas-shuffled} both serve them.
 * To be named in {@code mapreduce.job.map.output.collector.class}; sorts and merges as {@link
 * LustreCollector} does.
 *
 * @param <K> key of the map output
 * @param <V> its value
 */
public final class LocalCollector<K, V> extends SortingCollector<K, V> {
  @Override
  void check(JobConf job) throws IOException {
    CollectorRules.check(job, LocalCollector.class, Switches::checkNodeConsumer);
  }

  @Override
  MapOutput<K, V> open(Context context) throws IOException, ClassNotFoundException {
    JobConf job = context.getJobConf();
    SegmentWriter writer = new SegmentWriter(job);
    return new MapOutput<>(context, new Ledger(job.getNumReduceTasks()), writer,
        new LocalPlace(context, writer));
  }
}
