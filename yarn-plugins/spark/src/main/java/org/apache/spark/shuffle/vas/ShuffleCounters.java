package org.apache.spark.shuffle.vas;

import com.codahale.metrics.Counter;
import com.codahale.metrics.MetricRegistry;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;

/**
 * Counts what a process asks of Lustre for map output. Spark's sinks publish the counters as {@code
 * APPLICATION.EXECUTOR.vasShuffle.NAME}.
 */
final class ShuffleCounters implements Source {
  private static final String NAME = "vasShuffle";

  private final MetricRegistry registry = new MetricRegistry();
  /** Files that were made: data and indexes. */
  final Counter files = registry.counter("files");
  /** Files that were opened for reading. */
  final Counter opens = registry.counter("opens");
  /** Calls of the file system that read bytes. */
  final Counter reads = registry.counter("reads");
  /** First reads of a map's blocks that had begun before a task asked for them. */
  final Counter readsAhead = registry.counter("readsAhead");
  /** Waits until a file is on the servers' disks. */
  final Counter syncs = registry.counter("syncs");
  /** Indexes that were in memory, so that no file was opened. */
  final Counter keptIndexes = registry.counter("keptIndexes");
  /** Bytes of map output that were written, without indexes. */
  final Counter bytesWritten = registry.counter("bytesWritten");
  /** Bytes of map output that were read, and whose checksums are right. */
  final Counter bytesVerified = registry.counter("bytesVerified");

  /** Hands the counters to this process's metrics system, where there is one. */
  void publish() {
    if (SparkEnv.get() != null) {
      SparkEnv.get().metricsSystem().registerSource(this);
    }
  }

  @Override
  public String sourceName() {
    return NAME;
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }

  /** Returns names and values in the order of the names. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    registry.getCounters().forEach((name, counter) ->
        text.append(text.length() == 0 ? "" : ", ").append(name).append(' ').append(counter.getCount()));
    return text.toString();
  }
}
