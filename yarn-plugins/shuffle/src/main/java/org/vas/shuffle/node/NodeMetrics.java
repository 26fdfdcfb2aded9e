package org.vas.shuffle.node;

import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.vas.filesystem.TreeRemover;

/** The metrics2 source {@code VasShuffle}, also in JMX. */
final class NodeMetrics implements MetricsSource {
  static final String NAME = "VasShuffle";

  private final MetricsRegistry registry =
      new MetricsRegistry(Interns.info(NAME, "Map output left on Lustre by applications"));
  private final MutableCounterLong applications =
      registry.newCounter("Applications", "Applications that ended on this node", 0L);
  private final MutableCounterLong cleaned =
      registry.newCounter("ApplicationsCleaned", "Applications that had left map output", 0L);
  private final MutableCounterLong undecided = registry.newCounter("ApplicationsUndecided",
      "Applications not known to be over everywhere; the janitor looks after them", 0L);
  private final MutableCounterLong failures =
      registry.newCounter("Failures", "Applications whose map output could not be removed", 0L);
  private final MutableCounterLong files =
      registry.newCounter("FilesRemoved", "Files removed", 0L);
  private final MutableCounterLong bytes =
      registry.newCounter("BytesRemoved", "Bytes in the files removed", 0L);

  private NodeMetrics() {}

  /** Registers the source; one that an earlier life of this NodeManager left is replaced. */
  static NodeMetrics register() {
    MetricsSystem metrics = DefaultMetricsSystem.instance();
    metrics.unregisterSource(NAME);
    return metrics.register(NAME, "Shuffle cleanup", new NodeMetrics());
  }

  void ended() {
    applications.incr();
  }

  void undecided() {
    undecided.incr();
  }

  void failed() {
    failures.incr();
  }

  void removed(TreeRemover removed) {
    if (removed.removedAny()) {
      cleaned.incr();
    }
    files.incr(removed.files());
    bytes.incr(removed.bytes());
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    registry.snapshot(collector.addRecord(registry.info()), all);
  }
}
