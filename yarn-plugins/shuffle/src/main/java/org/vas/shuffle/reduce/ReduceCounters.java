package org.vas.shuffle.reduce;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.util.List;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.vas.shuffle.mof.MetadataOperation;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.report.NodeReporter;

/** The counters of one reduce attempt: stock's, with stock's values, and VAS's own. */
final class ReduceCounters implements ReadMeter, Closeable {
  /** The name of the group of VAS's own job counters. */
  static final String GROUP = MetadataOperation.GROUP;

  private final ShuffleConsumerPlugin.Context<?, ?> stock;
  private final Reporter reporter;
  private final ReduceMetrics metrics = ReduceMetrics.register();
  private final NodeReporter node;

  ReduceCounters(ShuffleConsumerPlugin.Context<?, ?> stock) {
    this.stock = requireNonNull(stock, "stock");
    this.reporter = stock.getReporter();
    this.node = new NodeReporter(stock.getJobConf(), metrics::reads);
  }

  @Override
  public void opened() {
    add("MOFS_OPENED", 1);
    metrics.opened();
  }

  @Override
  public void closed() {
    metrics.closed();
  }

  @Override
  public void read(long bytes) {
    add("MOF_BYTES_READ", bytes);
    metrics.read(bytes);
  }

  /** Counts a request to the metadata server; called by several threads. */
  void asked(MetadataOperation operation) {
    add(operation.name(), 1);
    metrics.asked();
  }

  @Override
  public void again(long bytes) {
    add("MOF_BYTES_READ_AGAIN", bytes);
  }

  void validationFailed() {
    add("VALIDATION_FAILURES", 1);
    metrics.validationFailed();
    stock.getFailedShuffleCounter().increment(1);
  }

  /** Counts segments that the daemon of this node merges for the task. */
  void mergedByDaemon(int segments) {
    add("SEGMENTS_MERGED_BY_DAEMON", segments);
  }

  void passed(long records) {
    add("PASSES", 1);
    stock.getSpilledRecordsCounter().increment(records);
  }

  /**
   * Counts these outputs as fetched and opened for the merge, with the values that stock would
   * count.
   */
  void shuffled(List<FetchedOutput> outputs, StockBytes bytes) {
    stock.getShuffledMapsCounter().increment(outputs.size());
    stock.getMergedMapOutputsCounter().increment(outputs.size());
    stock.getReduceShuffleBytes().increment(outputs.stream().mapToLong(bytes::of).sum());
  }

  /** Reports to the node each second, by a thread for that alone. */
  void reportByThread() {
    node.start();
  }

  /** Reports to the node what has changed; does not wait for it. */
  void report() {
    node.report();
  }

  /** Reports the last numbers to the node. */
  @Override
  public void close() {
    node.close();
  }

  private void add(String name, long value) {
    Counters.Counter counter = reporter.getCounter(GROUP, name);
    if (counter != null) { // a reporter of tests has none
      counter.increment(value);
    }
  }
}
