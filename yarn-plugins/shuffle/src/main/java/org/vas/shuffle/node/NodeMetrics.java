package org.vas.shuffle.node;

import java.util.EnumMap;
import java.util.Map;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.apache.hadoop.metrics2.lib.MutableGaugeInt;
import org.apache.hadoop.metrics2.lib.MutableGaugeLong;
import org.vas.filesystem.TreeRemover;
import org.vas.shuffle.report.TaskRead;
import org.vas.shuffle.report.TaskReads;

/** The metrics2 source {@code VasShuffle}, also in JMX. */
final class NodeMetrics implements MetricsSource {
  static final String NAME = "VasShuffle";

  private final MetricsRegistry registry =
      new MetricsRegistry(Interns.info(
          NAME, "Reads of map output by reduce tasks, and map output that applications left"));
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
  private final MutableGaugeInt tasks =
      registry.newGauge("ReduceTasks", "Reduce tasks that report their reads now", 0);
  private final MutableGaugeLong open =
      registry.newGauge("OpenSegments", "Segments whose file a reduce task has open now", 0L);
  private final Map<TaskRead, MutableCounterLong> reads = counters(registry);

  private NodeMetrics() {}

  private static Map<TaskRead, MutableCounterLong> counters(MetricsRegistry registry) {
    Map<TaskRead, MutableCounterLong> found = new EnumMap<>(TaskRead.class);
    found.put(TaskRead.SEGMENTS_OPENED,
        registry.newCounter("SegmentsOpened", "Segments opened by reduce tasks", 0L));
    found.put(TaskRead.BYTES_READ,
        registry.newCounter("BytesRead", "Stored bytes of map output read by reduce tasks", 0L));
    found.put(TaskRead.READ_REQUESTS,
        registry.newCounter("ReadRequests", "Reads of map output by reduce tasks", 0L));
    found.put(TaskRead.METADATA_REQUESTS, registry.newCounter("MetadataRequests",
        "Requests of reduce tasks to the metadata server for map output", 0L));
    found.put(TaskRead.VALIDATION_FAILURES, registry.newCounter("ValidationFailures",
        "Map outputs that reduce tasks found lost or damaged", 0L));
    return found;
  }

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

  /** Counts a reduce task that begins to report. */
  void started() {
    tasks.incr();
  }

  /** Counts what a reduce task has read between two of its reports. */
  void reads(TaskReads earlier, TaskReads now) {
    TaskReads growth = now.since(earlier);
    reads.forEach((read, counter) -> counter.incr(growth.get(read)));
    open.incr(now.get(TaskRead.OPEN_SEGMENTS) - earlier.get(TaskRead.OPEN_SEGMENTS));
  }

  /** Subtracts a task that has ended, and the open segments of its last report. */
  void ended(TaskReads last) {
    tasks.decr();
    open.decr(last.get(TaskRead.OPEN_SEGMENTS));
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    registry.snapshot(collector.addRecord(registry.info()), all);
  }
}
