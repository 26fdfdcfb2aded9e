package org.apache.spark.shuffle.vas;

/** Counts work twice: for the process, and for the task and shuffle that it is done for, if any. */
final class Tally {
  private final ShuffleCounters process;
  private final ShuffleWork task;

  private Tally(ShuffleCounters process, ShuffleWork task) {
    this.process = process;
    this.task = task;
  }

  /** Returns a tally of what this thread does now; other threads may count in it too. */
  static Tally of(ShuffleCounters process) {
    return new Tally(process, ShuffleWork.current());
  }

  /** Counts one more piece of work of this kind. */
  void count(WorkKind what) {
    count(what, 1);
  }

  /** Adds so much work of one kind. */
  void count(WorkKind what, long number) {
    process.count(what, number);
    if (task != null) {
      task.count(what, number);
    }
  }
}
