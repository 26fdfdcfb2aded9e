package org.vas.shuffle.reduce;

import org.apache.hadoop.mapred.TaskAttemptID;

/** The result of a look at one map attempt's output: intact, or why not and who is to blame. */
final class OutputFinding {
  private final TaskAttemptID attempt;
  private final FetchedOutput output;
  private final OutputDiagnosis diagnosis;
  private final Throwable error;

  private OutputFinding(
      TaskAttemptID attempt, FetchedOutput output, OutputDiagnosis diagnosis, Throwable error) {
    this.attempt = attempt;
    this.output = output;
    this.diagnosis = diagnosis;
    this.error = error;
  }

  static OutputFinding intact(TaskAttemptID attempt, FetchedOutput output) {
    return new OutputFinding(attempt, output, null, null);
  }

  static OutputFinding failed(TaskAttemptID attempt, OutputDiagnosis diagnosis, Throwable error) {
    return new OutputFinding(attempt, null, diagnosis, error);
  }

  TaskAttemptID attempt() {
    return attempt;
  }

  /** Returns the output; null if it is not intact. */
  FetchedOutput output() {
    return output;
  }

  OutputDiagnosis diagnosis() {
    return diagnosis;
  }

  Throwable error() {
    return error;
  }
}
