package org.vas.shuffle.reduce;

import java.io.IOException;
import org.vas.shuffle.Switches;

/**
 * Merges stock's map outputs from the disks of their nodes into reduce(), by {@code vas-shuffled};
 * the class to name in {@code mapreduce.job.reduce.shuffle.consumer.plugin.class} (docs/jbs.md).
 *
 * @param <K> key of the map output
 * @param <V> its value
 */
public final class NodeMerge<K, V> extends StreamedMerge<K, V> {
  @Override
  OutputMedium medium(Context<K, V> context, ReduceCounters counters) throws IOException {
    Switches.checkStockLayout(context.getJobConf());
    return new NodeMedium(context, counters);
  }
}
