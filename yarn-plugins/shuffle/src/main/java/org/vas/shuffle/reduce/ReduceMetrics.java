package org.vas.shuffle.reduce;

import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.apache.hadoop.metrics2.lib.MutableGaugeInt;
import org.vas.shuffle.report.TaskReads;

/** The metrics2 source {@code VasShuffleTask} of a reduce task, also in its JMX. */
final class ReduceMetrics implements MetricsSource {
  static final String NAME = "VasShuffleTask";

  private final MetricsRegistry registry =
      new MetricsRegistry(Interns.info(NAME, "Reads of map output by this reduce task"));
  private final MutableGaugeInt open =
      registry.newGauge("OpenSegments", "Segments whose file is open now", 0);
  private final MutableCounterLong opened =
      registry.newCounter("SegmentsOpened", "Segments opened", 0L);
  private final MutableCounterLong bytes =
      registry.newCounter("BytesRead", "Stored bytes read", 0L);
  private final MutableCounterLong requests =
      registry.newCounter("ReadRequests", "Reads of map output", 0L);
  private final MutableCounterLong asked =
      registry.newCounter("MetadataRequests", "Requests to the metadata server", 0L);
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
    requests.incr();
    bytes.incr(count);
  }

  void asked() {
    asked.incr();
  }

  void validationFailed() {
    failures.incr();
  }

  /** Returns the numbers so far, as they are reported to the node. */
  TaskReads reads() {
    // A segment that another thread closes before it is counted as opened would be -1.
    return TaskReads.of(Math.max(0, open.value()), opened.value(), bytes.value(), requests.value(),
        asked.value(), failures.value());
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    registry.snapshot(collector.addRecord(registry.info()), all);
  }
}
