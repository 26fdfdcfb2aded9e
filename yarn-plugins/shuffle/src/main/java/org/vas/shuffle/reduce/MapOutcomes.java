package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;

/**
 * The state of each map, from completion events and from looking at the outputs. Of a map's live
 * attempts, the one that succeeded first and is intact counts.
 *
 * @param <T> an intact output
 */
final class MapOutcomes<T> {
  private final List<Set<TaskAttemptID>> succeeded = new ArrayList<>();
  private final Set<TaskAttemptID> obsolete = new HashSet<>();
  private final BitSet failedMaps = new BitSet();

  // Maps that nothing more is to come from, and those that something changed of.
  private final BitSet done = new BitSet();
  private final BitSet changed = new BitSet();

  private final Set<TaskAttemptID> looking = new HashSet<>();
  private final Set<TaskAttemptID> bad = new HashSet<>();
  private final Map<TaskAttemptID, T> intact = new HashMap<>();

  MapOutcomes(int maps) {
    for (int i = 0; i < maps; i++) {
      succeeded.add(new LinkedHashSet<>());
    }
  }

  /**
   * Takes an event, in any order and as often as it comes.
   * @throws IOException for a map that the job does not have, and for an unknown status
   */
  void resolve(TaskAttemptID attempt, TaskCompletionEvent.Status status) throws IOException {
    int map = attempt.getTaskID().getId();
    if (map >= succeeded.size()) {
      throw new IOException("an event of " + attempt + ", but there are " + succeeded.size()
          + " maps");
    }
    switch (status) {
      case SUCCEEDED:
        succeeded.get(map).add(attempt);
        break;
      case FAILED:
      case KILLED:
      case OBSOLETE:
        obsolete.add(attempt);
        break;
      case TIPFAILED:
        failedMaps.set(map);
        break;
      default:
        throw new IOException("an event of " + attempt + " with the unknown status " + status);
    }
    change(map);
  }

  /** Forgets the events, which come again from the first; keeps what was seen of outputs. */
  void reset() {
    succeeded.forEach(Set::clear);
    obsolete.clear();
    failedMaps.clear();
    done.clear();
    changed.clear();
  }

  /** Returns the attempts to look at now, each once. */
  List<TaskAttemptID> toLookAt() {
    List<TaskAttemptID> found = new ArrayList<>();
    changed.andNot(done);
    changed.stream().forEach(map -> succeeded.get(map).stream()
        .filter(attempt -> live(attempt) && !bad.contains(attempt))
        .findFirst()
        .filter(looking::add)
        .ifPresent(found::add));
    changed.clear();
    return found;
  }

  /** Returns whether the output of this attempt may still be one to merge. */
  boolean wants(TaskAttemptID attempt) {
    return live(attempt) && succeeded.get(attempt.getTaskID().getId()).contains(attempt);
  }

  /** Marks an attempt as not looked at: if it is wanted again, it is looked at again. */
  void unknown(TaskAttemptID attempt) {
    looking.remove(attempt);
    change(attempt.getTaskID().getId());
  }

  void intact(TaskAttemptID attempt, T output) {
    intact.put(attempt, output);
    change(attempt.getTaskID().getId());
  }

  void bad(TaskAttemptID attempt) {
    bad.add(attempt);
    change(attempt.getTaskID().getId());
  }

  /** Returns the live attempts with a bad output, of maps that have no better one. */
  List<TaskAttemptID> toReport() {
    List<TaskAttemptID> found = new ArrayList<>();
    for (TaskAttemptID attempt : bad) {
      int map = attempt.getTaskID().getId();
      if (live(attempt) && succeeded.get(map).contains(attempt) && !done.get(map)) {
        found.add(attempt);
      }
    }
    return found;
  }

  int maps() {
    return succeeded.size();
  }

  /** Returns the number of maps from which nothing more will come. */
  int done() {
    return done.cardinality();
  }

  /** Returns whether nothing more is to come from a map. */
  boolean isDone(int map) {
    return done.get(map);
  }

  /**
   * Returns the outputs to merge, in order of maps; a map that failed for good, as its job allows,
   * has none.
   */
  List<T> chosen() {
    List<T> outputs = new ArrayList<>();
    for (int map = 0; map < succeeded.size(); map++) {
      TaskAttemptID attempt = chosen(map);
      if (attempt != null) {
        outputs.add(intact.get(attempt));
      }
    }
    return outputs;
  }

  private void change(int map) {
    changed.set(map);
    done.set(map, failedMaps.get(map) || chosen(map) != null);
  }

  private TaskAttemptID chosen(int map) {
    for (TaskAttemptID attempt : succeeded.get(map)) {
      if (live(attempt) && intact.containsKey(attempt)) {
        return attempt;
      }
    }
    return null;
  }

  private boolean live(TaskAttemptID attempt) {
    return !obsolete.contains(attempt);
  }
}
