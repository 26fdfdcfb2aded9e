package org.vas.shuffle.reduce;

import org.apache.hadoop.mapred.TaskAttemptID;

/** What was seen of one map attempt's output: it is there, or why not and who is to blame. */
final class Verdict {
  private final TaskAttemptID attempt;
  private final FetchedOutput output;
  private final Diagnosis diagnosis;
  private final Throwable error;

  private Verdict(
      TaskAttemptID attempt, FetchedOutput output, Diagnosis diagnosis, Throwable error) {
    this.attempt = attempt;
    this.output = output;
    this.diagnosis = diagnosis;
    this.error = error;
  }

  static Verdict intact(TaskAttemptID attempt, FetchedOutput output) {
    return new Verdict(attempt, output, null, null);
  }

  static Verdict failed(TaskAttemptID attempt, Diagnosis diagnosis, Throwable error) {
    return new Verdict(attempt, null, diagnosis, error);
  }

  TaskAttemptID attempt() {
    return attempt;
  }

  /** Null if it is not intact. */
  FetchedOutput output() {
    return output;
  }

  Diagnosis diagnosis() {
    return diagnosis;
  }

  Throwable error() {
    return error;
  }
}
