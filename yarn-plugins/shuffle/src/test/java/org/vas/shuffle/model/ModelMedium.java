package org.vas.shuffle.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.vas.shuffle.mof.ShuffleDirs;

/** The medium of a history's map output, and the faults that it can have; this one is Lustre. */
class ModelMedium {
  /** Returns the machine on which all maps run. */
  String machine() {
    return "here";
  }

  /** Makes the job of a history one of this medium. */
  void configure(JobConf job) throws IOException {}

  /** Returns the directory of an attempt's output. */
  Path directory(JobConf job, TaskAttemptID attempt) {
    try {
      return Path.of(new ShuffleDirs(job).attempt(attempt).toUri().getPath());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns whether a first attempt may meet damage in the merge that was there before it. */
  boolean looksAtEndsOnly() {
    return true;
  }

  /** Returns whether damage of this kind can be told from what the map wrote. */
  boolean finds(int kind) {
    return true;
  }

  /** Returns the fault of a reduce during which somebody else does something. */
  NthCall meets(int number, Runnable other) {
    return NthCall.meets(number, other);
  }

  /** Kills what serves map output, if anything does. */
  void kill() {}
}
