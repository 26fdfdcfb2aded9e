package org.vas.shuffle.reduce;

import java.util.function.Consumer;
import org.apache.hadoop.mapred.TaskAttemptID;

/** Looks at the output of one map attempt, wherever it lies, in other threads. */
@FunctionalInterface
interface OutputLook {
  /**
   * Begins to look, and returns at once.
   *
   * @param machine where the attempt ran, as its completion event says; empty if that is not known
   * @param found takes what is there for this reducer, or what is wrong, in another thread
   */
  void begin(TaskAttemptID attempt, String machine, Consumer<OutputFinding> found);

  /**
   * Ends a look, in the thread of the reduce, with the part that no other thread may do.
   *
   * @return the finding, or another one in its place
   */
  default OutputFinding end(OutputFinding finding) {
    return finding;
  }
}
