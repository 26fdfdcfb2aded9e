package org.vas.app;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerRequestEvent;

/**
 * The attempts that wait for a container, by where their data is. Attempts that run again after a
 * failure are counted apart: they get a new JVM, as in stock MapReduce.
 *
 * <p>Not safe for several threads: the allocator uses it under its own lock.
 */
final class Demand {
  private final Map<TaskAttemptId, ContainerRequestEvent> waiting = new HashMap<>();
  private final Map<String, Integer> maps = new HashMap<>();
  private final Set<TaskAttemptId> again = new HashSet<>();
  private int reduces;
  private int placedMaps;

  void add(ContainerRequestEvent request) {
    if (request.getEarlierAttemptFailed()) {
      again.add(request.getAttemptID());
    } else if (waiting.putIfAbsent(request.getAttemptID(), request) == null) {
      count(request, 1);
    }
  }

  void remove(TaskAttemptId attempt) {
    again.remove(attempt);
    ContainerRequestEvent request = waiting.remove(attempt);
    if (request != null) {
      count(request, -1);
    }
  }

  /** Returns how many waiting map attempts have their data on a host or rack. */
  int mapsAt(String place) {
    return maps.getOrDefault(place, 0);
  }

  int maps() {
    return waiting.size() - reduces;
  }

  int reduces() {
    return reduces;
  }

  /** Returns whether a map attempt waits whose data is on some host. */
  boolean hasPlacedMaps() {
    return placedMaps > 0;
  }

  /** Returns whether an attempt of a kind waits that runs again after a failure. */
  boolean hasAgain(TaskType type) {
    return again.stream().anyMatch(attempt -> attempt.getTaskId().getTaskType() == type);
  }

  private void count(ContainerRequestEvent request, int change) {
    if (request.getAttemptID().getTaskId().getTaskType() == TaskType.REDUCE) {
      reduces += change;
      return;
    }
    placedMaps += request.getHosts().length == 0 ? 0 : change;
    for (String host : request.getHosts()) {
      maps.merge(host, change, Integer::sum);
    }
    for (String rack : request.getRacks()) {
      maps.merge(rack, change, Integer::sum);
    }
  }
}
