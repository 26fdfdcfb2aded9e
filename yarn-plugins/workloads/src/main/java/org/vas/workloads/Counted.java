package org.vas.workloads;

import org.apache.hadoop.mapred.Counters;

/** Adds up the counters of all tasks of a kind; of each task the last report counts. */
final class Counted {
  private final Counters sum = new Counters();
  private Counters last = new Counters();

  void report(Counters counters) {
    last = counters;
  }

  void add() {
    sum.incrAllCounters(last);
    last = new Counters();
  }

  long of(Enum<?> name) {
    return sum.findCounter(name).getValue();
  }

  long ours(String name) {
    return sum.findCounter("VAS shuffle", name).getValue();
  }
}
