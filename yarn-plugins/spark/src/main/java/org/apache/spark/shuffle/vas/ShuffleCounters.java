package org.apache.spark.shuffle.vas;

import com.codahale.metrics.Counter;
import com.codahale.metrics.MetricRegistry;
import java.util.EnumMap;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;

/**
 * Counts what a process asks of Lustre for map output. Spark's sinks publish the counters as {@code
 * APPLICATION.EXECUTOR.vasShuffle.NAME}.
 */
final class ShuffleCounters implements Source {
  private static final String NAME = "vasShuffle";

  private final MetricRegistry registry = new MetricRegistry();
  private final Map<WorkKind, Counter> counters = new EnumMap<>(WorkKind.class);

  ShuffleCounters() {
    for (WorkKind each : WorkKind.values()) {
      counters.put(each, registry.counter(each.shown()));
    }
  }

  /** Adds so much work of one kind. */
  void count(WorkKind what, long number) {
    counters.get(what).inc(number);
  }

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
