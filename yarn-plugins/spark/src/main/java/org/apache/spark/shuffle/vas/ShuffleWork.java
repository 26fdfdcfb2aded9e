package org.apache.spark.shuffle.vas;

import java.util.EnumMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.spark.util.AccumulatorV2;

/**
 * The work for the map output of one shuffle, as one of Spark's accumulators: each task counts in a
 * copy of its own, the driver adds up those of tasks that succeed, and Spark shows both on its
 * stages' pages and keeps them in event logs. For several threads, as some read ahead for a task.
 */
final class ShuffleWork extends AccumulatorV2<WorkKind, String> {
  private static final long serialVersionUID = 1;
  private static final ThreadLocal<ShuffleWork> CURRENT = new ThreadLocal<>();

  // Filled once, and then the same for all threads.
  private final EnumMap<WorkKind, AtomicLong> counted = new EnumMap<>(WorkKind.class);

  ShuffleWork() {
    for (WorkKind each : WorkKind.values()) {
      counted.put(each, new AtomicLong());
    }
  }

  /** A piece of a thread's work for one shuffle, which returns a value. */
  interface Action<T, E extends Exception> {
    T run() throws E;
  }

  /** Runs an action; what this thread makes meanwhile of files counts as work of this shuffle. */
  <T, E extends Exception> T during(Action<T, E> action) throws E {
    ShuffleWork outer = CURRENT.get();
    CURRENT.set(this);
    try {
      return action.run();
    } finally {
      CURRENT.set(outer);
    }
  }

  /** Returns the work that this thread does now; null if it is none of a task. */
  static ShuffleWork current() {
    return CURRENT.get();
  }

  /** Adds so much work of one kind. */
  void count(WorkKind what, long number) {
    counted.get(what).addAndGet(number);
  }

  @Override
  public void add(WorkKind what) {
    count(what, 1);
  }

  @Override
  public boolean isZero() {
    return counted.values().stream().allMatch(each -> each.get() == 0);
  }

  @Override
  public AccumulatorV2<WorkKind, String> copy() {
    ShuffleWork copy = new ShuffleWork();
    copy.merge(this);
    return copy;
  }

  @Override
  public void reset() {
    counted.values().forEach(each -> each.set(0));
  }

  @Override
  public void merge(AccumulatorV2<WorkKind, String> other) {
    ((ShuffleWork) other).counted.forEach((what, number) -> count(what, number.get()));
  }

  /** Returns names and numbers of what there was, as Spark's pages show them. */
  @Override
  public String value() {
    return counted.entrySet().stream().filter(each -> each.getValue().get() != 0)
        .map(each -> each.getKey().shown() + ' ' + each.getValue()).collect(Collectors.joining(", "));
  }
}
