package org.vas.shuffle.model;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;

/**
 * Stands in for an application master: keeps events, and runs a map again whose output is reported.
 */
final class Master {
  private static final int MOST_POLLS = 3000;
  private static final int REPORTS_TO_RUN_AGAIN = 2;

  /** Runs a map again. */
  interface Maps {
    void runAgain(int map) throws Exception;
  }

  private final Maps maps;
  private final List<TaskCompletionEvent> events = new ArrayList<>();
  private final Map<TaskAttemptID, Integer> reports = new HashMap<>();
  private final Set<TaskAttemptID> everReported = new HashSet<>();
  private int delivered;
  private int polls;
  private int resetAtPoll = -1;
  private int callAtPoll = -1;
  private Runnable call = () -> {};

  private final String machine;

  /** Makes a master all of whose maps run on one machine. */
  Master(Maps maps, String machine) {
    this.maps = maps;
    this.machine = machine;
  }

  synchronized void event(TaskAttemptID attempt, Status status) {
    events.add(new TaskCompletionEvent(events.size(), attempt, attempt.getTaskID().getId(), true,
        status, "http://" + machine + ":0"));
  }

  /** Another master knows the maps that succeeded, and nothing else. */
  synchronized void restart() {
    Set<TaskAttemptID> live = live(events);
    Set<Integer> failed = failedMaps(events);
    events.clear();
    live.forEach(attempt -> event(attempt, Status.SUCCEEDED));
    failed.forEach(map -> event(History.map(map, 0), Status.TIPFAILED));
  }

  /** A new attempt of a reduce begins to ask. */
  synchronized void reduceStarts(int resetAt) {
    delivered = 0;
    polls = 0;
    resetAtPoll = resetAt;
    callAtPoll = -1;
    reports.clear();
    everReported.clear();
  }

  /** Has something happen at a poll of the reduce that starts. */
  synchronized void atPoll(int number, Runnable what) {
    callAtPoll = number;
    call = what;
  }

  /** Attempts that succeeded and were not taken back, in order, as far as a reduce was told. */
  synchronized Set<TaskAttemptID> toldLive() {
    return live(events.subList(0, delivered));
  }

  synchronized Set<Integer> toldFailed() {
    return failedMaps(events.subList(0, delivered));
  }

  synchronized Set<TaskAttemptID> live() {
    return live(events);
  }

  synchronized Set<Integer> failedMaps() {
    return failedMaps(events);
  }

  /** What the running reduce has blamed. */
  synchronized Set<TaskAttemptID> reported() {
    return Set.copyOf(everReported);
  }

  private static Set<TaskAttemptID> live(List<TaskCompletionEvent> told) {
    Set<TaskAttemptID> live = new LinkedHashSet<>();
    Set<TaskAttemptID> dead = new HashSet<>();
    for (TaskCompletionEvent event : told) {
      if (event.getTaskStatus() == Status.SUCCEEDED) {
        live.add(event.getTaskAttemptId());
      } else if (event.getTaskStatus() != Status.TIPFAILED) {
        dead.add(event.getTaskAttemptId());
      }
    }
    live.removeAll(dead);
    return live;
  }

  private static Set<Integer> failedMaps(List<TaskCompletionEvent> told) {
    Set<Integer> failed = new HashSet<>();
    for (TaskCompletionEvent event : told) {
      if (event.getTaskStatus() == Status.TIPFAILED) {
        failed.add(event.getTaskAttemptId().getTaskID().getId());
      }
    }
    return failed;
  }

  TaskUmbilicalProtocol protocol() {
    return (TaskUmbilicalProtocol) Proxy.newProxyInstance(Master.class.getClassLoader(),
        new Class<?>[] {TaskUmbilicalProtocol.class}, (proxy, method, args) -> {
          switch (method.getName()) {
            case "getMapCompletionEvents":
              return events((int) args[1], (int) args[2]);
            case "statusUpdate":
              return statusUpdate((TaskStatus) args[1]);
            default:
              return method.getReturnType() == boolean.class ? Boolean.TRUE : null;
          }
        });
  }

  private synchronized MapTaskCompletionEventsUpdate events(int from, int most) {
    if (++polls > MOST_POLLS) {
      throw new AssertionError("a reduce that waits for ever: " + events);
    }
    if (polls == callAtPoll) {
      call.run();
    }
    boolean reset = polls == resetAtPoll;
    int start = reset ? 0 : from;
    int end = Math.min(events.size(), start + most);
    delivered = Math.max(delivered, end);
    return new MapTaskCompletionEventsUpdate(
        events.subList(start, end).toArray(new TaskCompletionEvent[0]), reset);
  }

  private AMFeedback statusUpdate(TaskStatus status) throws Exception {
    if (status != null) {
      for (TaskAttemptID attempt : List.copyOf(status.getFetchFailedMaps())) {
        reported(attempt);
      }
    }
    AMFeedback feedback = new AMFeedback();
    feedback.setTaskFound(true);
    return feedback;
  }

  private void reported(TaskAttemptID attempt) throws Exception {
    synchronized (this) {
      everReported.add(attempt);
      if (reports.merge(attempt, 1, Integer::sum) != REPORTS_TO_RUN_AGAIN) {
        return;
      }
      event(attempt, Status.OBSOLETE);
    }
    NthCall.elsewhere(() -> {
      maps.runAgain(attempt.getTaskID().getId());
      return null;
    });
  }
}
