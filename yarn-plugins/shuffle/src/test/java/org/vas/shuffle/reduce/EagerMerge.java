package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;

/**
 * {@link LustreMerge} or {@link NodeMerge} that asks for events fifty times a second.
 *
 * @param <K> key of the map output
 * @param <V> its value
 */
public final class EagerMerge<K, V> implements ShuffleConsumerPlugin<K, V> {
  private static final long POLL_MILLIS = 20;
  private static final Queue<EagerMerge<?, ?>> MADE = new ConcurrentLinkedQueue<>();

  /** The key of a job whose map output is on the node's disks. */
  public static final String NODE = "test.node";

  private StreamedMerge<K, V> merge;

  /** What the end of the process does: Hadoop closes the plugin after success only. */
  public static void closeAll() {
    for (EagerMerge<?, ?> each = MADE.poll(); each != null; each = MADE.poll()) {
      each.close();
    }
  }

  @Override
  public void init(Context<K, V> context) {
    merge = context.getJobConf().getBoolean(NODE, false) ? new NodeMerge<>() : new LustreMerge<>();
    MADE.add(this);
    merge.pollMillis = POLL_MILLIS;
    merge.init(context);
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    return merge.run();
  }

  @Override
  public void close() {
    merge.close();
  }
}
