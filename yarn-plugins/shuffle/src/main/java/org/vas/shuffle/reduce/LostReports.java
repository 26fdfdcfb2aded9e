package org.vas.shuffle.reduce;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the application master which map outputs are lost, as often as a heartbeat would. Hadoop
 * itself decides after how many reports such a map runs again (TaskAttemptListenerImpl,
 * JobImpl.TaskAttemptFetchFailureTransition). The reports go in a status of their own: the list in
 * the task's own status is sent and emptied by the thread of the heartbeat, which knows of no
 * other.
 */
final class LostReports {
  private static final Logger LOG = LoggerFactory.getLogger(LostReports.class);

  private final TaskUmbilicalProtocol umbilical;
  private final TaskAttemptID reduce;
  private final TaskStatus status;
  private final long periodNanos;
  private Set<TaskAttemptID> told = new HashSet<>();
  private long toldAt;

  LostReports(TaskUmbilicalProtocol umbilical, TaskAttemptID reduce, TaskStatus status,
      long periodMillis) {
    this.umbilical = requireNonNull(umbilical, "umbilical");
    this.reduce = requireNonNull(reduce, "reduce");
    this.status = requireNonNull(status, "status");
    this.periodNanos = TimeUnit.MILLISECONDS.toNanos(periodMillis);
  }

  /** Reports these attempts, unless none is new and the last report is recent. */
  void tell(Collection<TaskAttemptID> lost) throws InterruptedException {
    if (lost.isEmpty()
        || (told.containsAll(lost) && System.nanoTime() - toldAt < periodNanos)) {
      return;
    }
    TaskStatus copy = (TaskStatus) status.clone();
    lost.forEach(copy::addFetchFailedMap);
    try {
      umbilical.statusUpdate(reduce, copy);
      told = new HashSet<>(lost);
      toldAt = System.nanoTime();
    } catch (IOException e) {
      LOG.warn("Cannot report that {} are lost; trying again", lost, e);
    }
  }
}
