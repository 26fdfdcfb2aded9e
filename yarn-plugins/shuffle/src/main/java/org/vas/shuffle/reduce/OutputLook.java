package org.vas.shuffle.reduce;

import org.apache.hadoop.mapred.TaskAttemptID;
import org.vas.shuffle.mof.CallWatch;

/** Looks at the output of one map attempt, wherever it lies. Called by several threads. */
@FunctionalInterface
interface OutputLook {
  /**
   * Returns what is there for this reducer, or what is wrong, instead of throwing it.
   *
   * @param machine where the attempt ran, as its completion event says; empty if that is not known
   * @param watch is told before each call that may block
   */
  OutputFinding at(TaskAttemptID attempt, String machine, CallWatch watch);
}
