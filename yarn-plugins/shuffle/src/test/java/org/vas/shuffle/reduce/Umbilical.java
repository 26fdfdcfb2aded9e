package org.vas.shuffle.reduce;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;

/** Stands in for an application master; knows nothing but completion events. */
final class Umbilical {
  private final List<TaskCompletionEvent> events = new ArrayList<>();
  private final List<TaskStatus.Phase> phases = Collections.synchronizedList(new ArrayList<>());
  private Consumer<TaskAttemptID> onReport = attempt -> {};
  private IntFunction<String> machines = map -> "here";
  private boolean reset;
  private int asked;
  private final AtomicInteger reportedByHeartbeat = new AtomicInteger();
  private final AtomicInteger pings = new AtomicInteger();
  private final AtomicInteger progress = new AtomicInteger();
  private final Set<TaskAttemptID> over = ConcurrentHashMap.newKeySet();
  private volatile Counters counters = new Counters();

  synchronized void event(TaskAttemptID attempt, TaskCompletionEvent.Status status) {
    events.add(new TaskCompletionEvent(
        events.size(), attempt, attempt.getTaskID().getId(), true, status,
        "http://" + machines.apply(attempt.getTaskID().getId()) + ":0"));
  }

  /** On which machine each map runs. */
  void machines(IntFunction<String> machineOfMap) {
    machines = machineOfMap;
  }

  /** What the application master does when a map's output is reported. */
  void onReport(Consumer<TaskAttemptID> action) {
    onReport = action;
  }

  /** The next answer starts again with the first event. */
  synchronized void reset() {
    reset = true;
  }

  synchronized int asked() {
    return asked;
  }

  /** Lost maps in the status that the heartbeat's thread sends and empties. */
  int reportedByHeartbeat() {
    return reportedByHeartbeat.get();
  }

  /** Heartbeats that said only that the process is there, which no time-out counts. */
  int pings() {
    return pings.get();
  }

  /** Heartbeats that said that something moved. */
  int progress() {
    return progress.get();
  }

  /** The application master knows no such attempt any more. */
  void over(TaskAttemptID attempt) {
    over.add(attempt);
  }

  Counters counters() {
    return counters;
  }

  List<TaskStatus.Phase> phases() {
    return List.copyOf(phases);
  }

  TaskUmbilicalProtocol protocol() {
    return (TaskUmbilicalProtocol) Proxy.newProxyInstance(getClass().getClassLoader(),
        new Class<?>[] {TaskUmbilicalProtocol.class}, (proxy, method, args) -> {
          switch (method.getName()) {
            case "getMapCompletionEvents":
              return events((int) args[1], (int) args[2]);
            case "statusUpdate":
              return statusUpdate((TaskAttemptID) args[0], (TaskStatus) args[1]);
            case "canCommit":
              return true;
            default:
              return null;
          }
        });
  }

  private synchronized MapTaskCompletionEventsUpdate events(int from, int most) {
    asked++;
    boolean again = reset;
    reset = false;
    int start = again ? 0 : from;
    List<TaskCompletionEvent> part = events.subList(start, Math.min(events.size(), start + most));
    return new MapTaskCompletionEventsUpdate(part.toArray(new TaskCompletionEvent[0]), again);
  }

  private AMFeedback statusUpdate(TaskAttemptID attempt, TaskStatus status) {
    if (status == null) {
      pings.incrementAndGet();
    } else {
      phases.add(status.getPhase());
      if (status.getCounters() != null) {
        counters = status.getCounters();
      }
      boolean fromHeartbeat = Thread.currentThread().getName().startsWith("communication");
      if (fromHeartbeat) {
        progress.incrementAndGet();
        reportedByHeartbeat.addAndGet(status.getFetchFailedMaps().size());
      }
      new ArrayList<>(status.getFetchFailedMaps()).forEach(onReport);
    }
    AMFeedback feedback = new AMFeedback();
    feedback.setTaskFound(!over.contains(attempt));
    return feedback;
  }

  @Override
  public synchronized String toString() {
    return Arrays.toString(events.toArray());
  }
}
