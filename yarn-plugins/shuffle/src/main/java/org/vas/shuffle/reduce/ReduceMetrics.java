package org.vas.shuffle.reduce;

import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.apache.hadoop.metrics2.lib.MutableGaugeInt;

/** The metrics2 source {@code VasShuffleTask} of a reduce task, also in its JMX. */
final class ReduceMetrics implements MetricsSource {
  static final String NAME = "VasShuffleTask";

  private final MetricsRegistry registry =
      new MetricsRegistry(Interns.info(NAME, "What this reduce task reads of map output"));
  private final MutableGaugeInt open =
      registry.newGauge("OpenSegments", "Segments whose file is open now", 0);
  private final MutableCounterLong opened =
      registry.newCounter("SegmentsOpened", "Segments opened", 0L);
  private final MutableCounterLong bytes =
      registry.newCounter("BytesRead", "Stored bytes read", 0L);
  private final MutableCounterLong failures =
      registry.newCounter("ValidationFailures", "Map outputs found lost or damaged", 0L);

  private ReduceMetrics() {}

  /** Registers the source; that of an earlier task of this process is replaced. */
  static ReduceMetrics register() {
    MetricsSystem metrics = DefaultMetricsSystem.instance();
    metrics.unregisterSource(NAME);
    return metrics.register(NAME, "Shuffle of a reduce task", new ReduceMetrics());
  }

  void opened() {
    open.incr();
    opened.incr();
  }

  void closed() {
    open.decr();
  }

  void read(long count) {
    bytes.incr(count);
  }

  void validationFailed() {
    failures.incr();
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    registry.snapshot(collector.addRecord(registry.info()), all);
  }
}
