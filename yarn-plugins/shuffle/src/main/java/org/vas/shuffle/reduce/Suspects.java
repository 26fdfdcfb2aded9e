package org.vas.shuffle.reduce;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.hadoop.mapred.TaskAttemptID;

/**
 * The outputs that could not be read, as long as one OST explains them all. Each gets a second look
 * when all others were seen to be intact: what fails then is that OST and not the file system.
 */
final class Suspects {
  private final Map<TaskAttemptID, Set<String>> ostsOf = new HashMap<>();
  private final Set<TaskAttemptID> lookedAtAgain = new HashSet<>();

  /**
   * Adds an output that could not be read.
   * @param osts the OSTs that its error is about; empty where they are not known: no other output
   *     shares them then
   * @return whether there is an OST that all suspects have in common
   */
  boolean add(TaskAttemptID attempt, Set<String> osts) {
    ostsOf.put(attempt, osts.isEmpty() ? Set.of(attempt.toString()) : osts);
    Set<String> common = new HashSet<>(ostsOf.get(attempt));
    ostsOf.values().forEach(common::retainAll);
    return !common.isEmpty();
  }

  /** Removes the attempts that are not wanted any more, and returns them. */
  List<TaskAttemptID> forgetAllBut(Predicate<TaskAttemptID> wanted) {
    List<TaskAttemptID> gone = ostsOf.keySet().stream().filter(wanted.negate())
        .collect(Collectors.toList());
    ostsOf.keySet().removeAll(gone);
    return gone;
  }

  /** Removes an attempt whose output could be read after all. */
  void remove(TaskAttemptID attempt) {
    ostsOf.remove(attempt);
  }

  boolean wasLookedAtAgain(TaskAttemptID attempt) {
    return lookedAtAgain.contains(attempt);
  }

  /** Returns the numbers of the maps whose outputs are suspects. */
  Set<Integer> maps() {
    return ostsOf.keySet().stream().map(each -> each.getTaskID().getId())
        .collect(Collectors.toSet());
  }

  /** Returns the attempts that need a second look; each is returned once. */
  List<TaskAttemptID> toLookAtAgain() {
    List<TaskAttemptID> found = new ArrayList<>();
    ostsOf.keySet().stream().filter(lookedAtAgain::add).forEach(found::add);
    return found;
  }
}
