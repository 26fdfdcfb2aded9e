package org.vas.app;

import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerRequestEvent;

/**
 * The attempts that wait for a container, by where their data is. Attempts that run again after a
 * failure are not among them: they get a new JVM, as in stock MapReduce.
 *
 * <p>Not safe for several threads: the allocator uses it under its own lock.
 */
final class Demand {
  private final Map<TaskAttemptId, ContainerRequestEvent> waiting = new HashMap<>();
  private final Map<String, Integer> maps = new HashMap<>();
  private int reduces;

  void add(ContainerRequestEvent request) {
    if (!request.getEarlierAttemptFailed()
        && waiting.putIfAbsent(request.getAttemptID(), request) == null) {
      count(request, 1);
    }
  }

  void remove(TaskAttemptId attempt) {
    ContainerRequestEvent request = waiting.remove(attempt);
    if (request != null) {
      count(request, -1);
    }
  }

  /** Returns how many map attempts have their data on a host or rack. */
  int mapsAt(String place) {
    return maps.getOrDefault(place, 0);
  }

  int maps() {
    return waiting.size() - reduces;
  }

  int reduces() {
    return reduces;
  }

  private void count(ContainerRequestEvent request, int change) {
    if (request.getAttemptID().getTaskId().getTaskType() == TaskType.REDUCE) {
      reduces += change;
      return;
    }
    for (String host : request.getHosts()) {
      maps.merge(host, change, Integer::sum);
    }
    for (String rack : request.getRacks()) {
      maps.merge(rack, change, Integer::sum);
    }
  }
}
