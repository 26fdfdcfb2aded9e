package org.vas.shuffle.site;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;

/** A job as its user and the ResourceManager see it. */
final class SiteJob {
  final int number;
  final int maps;
  final int reduces;
  final List<SiteMaster> masters = new ArrayList<>();
  /** Of each master, the lines of its history that it was told are safe. */
  final Map<Integer, List<String>> told = new TreeMap<>();
  private final String root;

  /** When it ended; -1 while it runs. */
  long ended = -1;
  boolean succeeded;
  /** The ResourceManager does not know it, or answers nonsense about it. */
  boolean forgotten;
  boolean doubted;
  /** Somebody planted something at one of its names: it need not end well. */
  boolean hindered;

  SiteJob(String root, int number, int maps, int reduces) {
    this.root = root;
    this.number = number;
    this.maps = maps;
    this.reduces = reduces;
  }

  String name() {
    return String.format("job_1_%04d", number);
  }

  String staging() {
    return root + "/staging/.staging/" + name();
  }

  String output() {
    return root + "/out" + number;
  }

  boolean isOver() {
    return ended >= 0;
  }

  /** The master that the ResourceManager knows. */
  SiteMaster current() {
    return masters.get(masters.size() - 1);
  }

  void over(boolean success, long now) {
    if (!isOver()) {
      ended = now;
      succeeded = success;
    }
  }

  TaskAttemptID attempt(TaskType type, int task, int attempt) {
    return new TaskAttemptID("1", number, type, task, attempt);
  }

  /** The sorted keys that a map emits for a partition. */
  List<String> keys(int map, int partition) {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i <= (map + partition) % 3; i++) {
      keys.add("job" + number + " p" + partition + " m" + map + " k" + i);
    }
    return keys;
  }

  /** What each reduce must write. */
  String expected(int partition) {
    StringBuilder all = new StringBuilder();
    for (int map = 0; map < maps; map++) {
      keys(map, partition).forEach(key -> all.append(key).append('\n'));
    }
    return all.toString();
  }

  static String part(int partition) {
    return String.format("part-r-%05d", partition);
  }
}
