package org.vas.shuffle.reduce;

import java.io.IOException;
import org.vas.shuffle.Switches;

/**
 * Merges map outputs from Lustre into reduce(); the class to name in {@code
 * mapreduce.job.reduce.shuffle.consumer.plugin.class}.
 *
 * @param <K> key of the map output
 * @param <V> its value
 */
public final class LustreMerge<K, V> extends StreamedMerge<K, V> {
  // The attempts of a restarted application master are numbered from the next thousand on.
  static final int ATTEMPTS_OF_ONE_MASTER = 1000;

  @Override
  OutputMedium medium(Context<K, V> context, ReduceCounters counters) throws IOException {
    Switches.checkCollector(context.getJobConf());
    return new LustreMedium(context, counters);
  }
}
