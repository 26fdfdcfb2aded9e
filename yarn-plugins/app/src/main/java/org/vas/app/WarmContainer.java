package org.vas.app;

import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.yarn.api.records.Container;

/** One container of the job and what its JVM does; guarded by the {@link WarmPool} that holds it. */
final class WarmContainer {
  /** The states of a container between its start and its end, in the usual order. */
  enum State {
    /** The container's JVM starts, or runs a task. */
    BUSY,
    /** The task reported success, and the JVM has not yet asked for another. */
    DONE,
    /** The JVM asked for another task, and the allocator has not yet heard of it. */
    READY,
    /** The container waits for a task, and the allocator knows it. */
    IDLE,
    /** An attempt was assigned to the container, and is not yet registered as launched. */
    ASSIGNED,
    /** An attempt is registered, and the container's JVM has not yet fetched it. */
    LAUNCHED,
    /** The container was given back, and its JVM must end. */
    ENDING
  }

  final Container container;
  final TaskAttemptId firstAttempt;
  TaskAttemptId attempt;
  State state = State.BUSY;
  int tasks = 1;
  /** The time when the container was given to its first attempt, in milliseconds of the pool's clock. */
  final long started;
  /** The port of the NodeManager's shuffle service; -1 until the first attempt was launched. */
  int shufflePort = -1;
  /** The time when the container became IDLE, in milliseconds of the pool's clock. */
  long idleSince;
  /** The time when the JVM last asked for another task, in milliseconds of the pool's clock. */
  long asked;

  WarmContainer(Container container, TaskAttemptId attempt, long started) {
    this.container = container;
    this.started = started;
    this.firstAttempt = attempt;
    this.attempt = attempt;
  }

  boolean waitsForAttemptToStart() {
    return state == State.ASSIGNED || state == State.LAUNCHED;
  }
}
