package org.vas.shuffle.map;

import java.io.IOException;
import org.apache.hadoop.mapred.TaskAttemptID;

/** The place that one map attempt writes its output to, and what makes it visible to reducers. */
interface OutputPlace {
  /** Returns the map attempt whose output this is. */
  TaskAttemptID attempt();

  /** Returns the files that the attempt writes. */
  AttemptFiles files();

  /**
   * Makes the directory of the attempt, where it needs one.
   *
   * @throws IOException if it is there already, or cannot be made
   */
  void makeDirectory() throws IOException;

  /**
   * Publishes runs that are closed, and counts as stock does.
   *
   * @throws IOException if they do not hold what the ledger has, or cannot be published
   */
  void publish(Runs runs, Ledger ledger) throws IOException;

  boolean isPublished();

  /**
   * Fails if the output is published already: a record that is emitted now would reach nobody.
   *
   * @throws IOException that says so
   */
  void checkOpen() throws IOException;
}
