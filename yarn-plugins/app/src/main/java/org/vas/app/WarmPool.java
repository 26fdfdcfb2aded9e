package org.vas.app;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.vas.app.WarmContainer.State;

/**
 * The containers of a job and what each does. The allocator, the launcher and the server of the
 * tasks' calls report events to it, and ask it what to do next.
 *
 * <p>A container is free for another task only when its attempt reported success <b>and</b> its JVM
 * then asked for more: a JVM that found itself unfit ends instead, and YARN reports that.
 */
public final class WarmPool {
  /** The answers to a JVM that asks for another task. */
  public enum Answer { WAIT, FETCH, END }

  // The allocator looks ten times a second; after a longer pause the master stood still itself.
  private static final long PAUSE_MILLIS = 1_000;

  private final int maxTasks;
  private final long maxMillis;
  private final LongSupplier clock;
  // By the number that a JVM knows its container by.
  private final Map<Long, WarmContainer> containers = new HashMap<>();
  private final Map<TaskAttemptId, WarmContainer> byAttempt = new HashMap<>();
  // First attempt of a container -> its latest; kept when the container is over, as the launcher may
  // still try to stop it on a node that does not answer.
  private final Map<TaskAttemptId, TaskAttemptId> latest = new HashMap<>();
  private final Set<Long> over = new HashSet<>();
  private int started;
  private int reused;
  private long looked;
  private long awakeSince;

  /**
   * Makes an empty pool.
   *
   * @param maxTasks tasks that a container runs at most
   * @param maxMillis age, in milliseconds, from which on a container gets no other task
   * @param clock milliseconds that only grow
   */
  WarmPool(int maxTasks, long maxMillis, LongSupplier clock) {
    this.maxTasks = maxTasks;
    this.maxMillis = maxMillis;
    this.clock = clock;
  }

  /**
   * Notes that the allocator gave a container to an attempt; returns whether the container had
   * waited in the pool.
   */
  synchronized boolean assigned(Container container, TaskAttemptId attempt) {
    WarmContainer warm = containers.get(key(container.getId()));
    boolean waited = warm != null;
    if (warm == null) {
      warm = new WarmContainer(container, attempt, clock.getAsLong());
      containers.put(key(container.getId()), warm);
      started++;
    } else {
      byAttempt.remove(warm.attempt);
      warm.attempt = attempt;
      warm.state = State.ASSIGNED;
      warm.tasks++;
      reused++;
    }
    byAttempt.put(attempt, warm);
    latest.put(warm.firstAttempt, attempt);
    return waited;
  }

  /** Returns whether the JVM of a container runs already and waits for the attempt just assigned. */
  synchronized boolean isWarm(ContainerId id) {
    WarmContainer warm = containers.get(key(id));
    return warm != null && warm.state == State.ASSIGNED;
  }

  /** Returns the port of the shuffle service on a container's node; -1 when it is not known. */
  synchronized int shufflePort(ContainerId id) {
    WarmContainer warm = containers.get(key(id));
    return warm == null ? -1 : warm.shufflePort;
  }

  /**
   * Notes that the first attempt of a container was launched, by a NodeManager with this shuffle
   * port.
   */
  synchronized void started(TaskAttemptId attempt, int shufflePort) {
    WarmContainer warm = byAttempt.get(attempt);
    if (warm != null) {
      warm.shufflePort = shufflePort;
    }
  }

  /** Notes that an attempt is registered: its JVM may fetch it. */
  public synchronized void launched(TaskAttemptId attempt) {
    WarmContainer warm = byAttempt.get(attempt);
    if (warm != null && warm.state == State.ASSIGNED) {
      warm.state = State.LAUNCHED;
    }
  }

  /** Notes that a JVM has fetched its attempt. */
  public synchronized void fetched(long jvm) {
    WarmContainer warm = containers.get(jvm);
    if (warm != null && warm.waitsForAttemptToStart()) {
      warm.state = State.BUSY;
    }
  }

  /** Notes that an attempt reported success. */
  public synchronized void done(TaskAttemptId attempt) {
    WarmContainer warm = byAttempt.get(attempt);
    if (warm != null && warm.state == State.BUSY) {
      warm.state = State.DONE;
    }
  }

  /**
   * Returns whether the latest attempt of a JVM is a map; empty when the pool does not know the
   * JVM.
   */
  public synchronized Optional<Boolean> runsMap(long jvm) {
    return Optional.ofNullable(containers.get(jvm))
        .map(warm -> warm.attempt.getTaskId().getTaskType() == TaskType.MAP);
  }

  /** Returns the latest attempt of a JVM; null when the pool does not know the JVM. */
  public synchronized TaskAttemptId attemptOf(long jvm) {
    WarmContainer warm = containers.get(jvm);
    return warm == null ? null : warm.attempt;
  }

  /**
   * Returns the answer to a JVM that asks for another task: {@code END} too when the pool does not
   * know it, its attempt did not report success, or it has run as many tasks, or as long, as it may.
   */
  public synchronized Answer ask(long jvm) {
    WarmContainer warm = containers.get(jvm);
    if (warm == null || warm.state == State.ENDING || warm.state == State.BUSY) {
      return Answer.END;
    }
    if (warm.state == State.DONE) {
      if (warm.tasks >= maxTasks || clock.getAsLong() - warm.started >= maxMillis) {
        warm.state = State.ENDING;
        return Answer.END;
      }
      warm.state = State.READY;
      notifyAll();
    }
    warm.asked = clock.getAsLong();
    return warm.state == State.LAUNCHED ? Answer.FETCH : Answer.WAIT;
  }

  /**
   * Waits until a container is ready; at most {@code idleMillis} when some containers wait for a
   * task.
   */
  synchronized void awaitReady(long idleMillis) throws InterruptedException {
    while (!has(State.READY)) {
      if (has(State.IDLE)) {
        wait(idleMillis);
        return;
      }
      wait();
    }
  }

  /**
   * Returns the containers whose JVM has asked for another task since the last call; from now on
   * they wait.
   */
  synchronized List<Container> takeReady() {
    List<Container> ready = new ArrayList<>();
    for (WarmContainer warm : containers.values()) {
      if (warm.state == State.READY) {
        warm.state = State.IDLE;
        warm.idleSince = clock.getAsLong();
        ready.add(warm.container);
      }
    }
    return ready;
  }

  /**
   * Returns the containers that wait, the one that waits longest first. A pause of the master's own
   * (no CPU, garbage collection) is no silence of a JVM, whose calls then wait to be answered.
   */
  synchronized List<Idle> idle() {
    List<Idle> idle = new ArrayList<>();
    long now = clock.getAsLong();
    awakeSince = now - looked > PAUSE_MILLIS ? now : awakeSince;
    looked = now;
    for (WarmContainer warm : containers.values()) {
      if (warm.state == State.IDLE) {
        idle.add(new Idle(warm.container, warm.firstAttempt, now - warm.idleSince,
            now - Math.max(warm.asked, awakeSince), now - warm.started >= maxMillis));
      }
    }
    idle.sort((left, right) -> Long.compare(right.waited, left.waited));
    return idle;
  }

  /**
   * Returns the containers that were given another attempt, whose JVM has not fetched it and has
   * been silent for so long.
   */
  synchronized List<ContainerId> silentlyGiven(long millis) {
    List<ContainerId> silent = new ArrayList<>();
    for (WarmContainer warm : containers.values()) {
      boolean isGiven = warm.tasks > 1 && warm.waitsForAttemptToStart();
      if (isGiven && clock.getAsLong() - warm.asked >= millis) {
        silent.add(warm.container.getId());
      }
    }
    return silent;
  }

  /** Returns whether no attempt runs in a container: it waits, is given up, or is over. */
  synchronized boolean hasNoAttempt(ContainerId id) {
    WarmContainer warm = containers.get(key(id));
    return warm == null || warm.state == State.IDLE || warm.state == State.ENDING;
  }

  /** Gives a container up: its JVM is told to end when it asks for a task. */
  synchronized void end(ContainerId id) {
    WarmContainer warm = containers.get(key(id));
    if (warm != null) {
      warm.state = State.ENDING;
    }
  }

  /**
   * Notes that an attempt is to be stopped by stopping its container.
   * @return whether it runs there; if so, no other attempt gets the container any more
   */
  synchronized boolean stop(ContainerId id, TaskAttemptId attempt) {
    WarmContainer warm = containers.get(key(id));
    if (warm == null || !warm.attempt.equals(attempt) || warm.state == State.IDLE) {
      return false;
    }
    warm.state = State.ENDING;
    return true;
  }

  /** Returns whether a container that the pool had has ended. */
  synchronized boolean isOver(ContainerId id) {
    return over.contains(key(id));
  }

  synchronized boolean holds(ContainerId id) {
    return containers.containsKey(key(id));
  }

  /**
   * Returns the latest attempt of the container that {@code firstAttempt} started; {@code
   * firstAttempt} itself when the pool does not know it.
   */
  synchronized TaskAttemptId latestOf(TaskAttemptId firstAttempt) {
    return latest.getOrDefault(firstAttempt, firstAttempt);
  }

  /**
   * Notes that YARN reported a container's end; returns its last state, empty when the pool did not
   * have it.
   */
  synchronized Optional<WarmContainer> completed(ContainerId id) {
    WarmContainer warm = containers.remove(key(id));
    if (warm != null) {
      byAttempt.remove(warm.attempt);
      over.add(key(id));
    }
    return Optional.ofNullable(warm);
  }

  /**
   * Returns one line for the master's log: how many containers were started, how many were used
   * again.
   */
  synchronized String summary() {
    return started + " containers were started, " + reused + " attempts ran in one that waited";
  }

  private boolean has(State state) {
    Predicate<WarmContainer> matches = warm -> warm.state == state;
    return containers.values().stream().anyMatch(matches);
  }

  private static long key(ContainerId id) {
    return id.getContainerId();
  }

  /**
   * A waiting container, with the milliseconds that it has waited and that its JVM has been silent,
   * and whether it is too old for another task.
   */
  static final class Idle {
    final Container container;
    final TaskAttemptId firstAttempt;
    final long waited;
    final long silent;
    final boolean isTooOld;

    Idle(Container container, TaskAttemptId firstAttempt, long waited, long silent,
        boolean isTooOld) {
      this.container = container;
      this.firstAttempt = firstAttempt;
      this.waited = waited;
      this.silent = silent;
      this.isTooOld = isTooOld;
    }
  }
}
