package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.junit.jupiter.api.Test;

class MapOutcomesTest {
  private static final int MAPS = 3;
  private static final int ATTEMPTS = 3;

  /** One event of one attempt. */
  static final class Event {
    private final TaskAttemptID attempt;
    private final Status status;

    Event(int map, int attempt, Status status) {
      this.attempt = ReduceHarness.map(map, attempt);
      this.status = status;
    }

    @Override
    public String toString() {
      return attempt.getTaskID().getId() + "_" + attempt.getId() + " " + status;
    }
  }

  /** The rules said again, from the whole history at once. */
  private static TaskAttemptID chosen(int map, List<Event> history, Set<TaskAttemptID> bad) {
    Set<TaskAttemptID> dead = history.stream()
        .filter(e -> e.status != Status.SUCCEEDED && e.status != Status.TIPFAILED)
        .map(e -> e.attempt).collect(Collectors.toSet());
    return history.stream()
        .filter(e -> e.status == Status.SUCCEEDED && e.attempt.getTaskID().getId() == map)
        .map(e -> e.attempt).filter(a -> !dead.contains(a) && !bad.contains(a))
        .findFirst().orElse(null);
  }

  @Test
  void nothingLearntOfAnAttemptIsLearntWhenItIsWantedAgain() throws IOException {
    MapOutcomes<TaskAttemptID> outcomes = new MapOutcomes<>(MAPS);
    TaskAttemptID attempt = ReduceHarness.map(0, 0);
    outcomes.resolve(attempt, Status.SUCCEEDED);
    assertEquals(List.of(attempt), outcomes.toLookAt());
    assertTrue(outcomes.wants(attempt));
    outcomes.resolve(attempt, Status.OBSOLETE);
    assertFalse(outcomes.wants(attempt));
    outcomes.unknown(attempt);
    assertEquals(List.of(), outcomes.toLookAt());
    outcomes.reset();
    outcomes.resolve(attempt, Status.SUCCEEDED);
    assertEquals(List.of(attempt), outcomes.toLookAt());
  }

  @Property(tries = 1000)
  void anyOrderOfEventsChoosesTheFirstLiveIntactAttempt(@ForAll("histories") List<Event> history,
      @ForAll("attempts") Set<TaskAttemptID> bad, @ForAll boolean replay) throws IOException {
    MapOutcomes<TaskAttemptID> outcomes = new MapOutcomes<>(MAPS);
    Set<TaskAttemptID> looked = new HashSet<>();
    for (Event event : history) {
      outcomes.resolve(event.attempt, event.status);
      look(outcomes, bad, looked);
    }
    if (replay) {
      outcomes.reset();
      for (Event event : history) {
        outcomes.resolve(event.attempt, event.status);
      }
      look(outcomes, bad, looked);
    }
    check(outcomes, history, bad);
  }

  private static void look(MapOutcomes<TaskAttemptID> outcomes, Set<TaskAttemptID> bad,
      Set<TaskAttemptID> looked) {
    List<TaskAttemptID> next = outcomes.toLookAt();
    while (!next.isEmpty()) {
      for (TaskAttemptID attempt : next) {
        assertTrue(looked.add(attempt), () -> attempt + " is looked at twice");
        if (bad.contains(attempt)) {
          outcomes.bad(attempt);
        } else {
          outcomes.intact(attempt, attempt);
        }
      }
      next = outcomes.toLookAt();
    }
  }

  private static void check(MapOutcomes<TaskAttemptID> outcomes, List<Event> history,
      Set<TaskAttemptID> bad) {
    List<TaskAttemptID> expected = new ArrayList<>();
    int done = 0;
    for (int map = 0; map < MAPS; map++) {
      int number = map;
      boolean failed = history.stream().anyMatch(
          e -> e.status == Status.TIPFAILED && e.attempt.getTaskID().getId() == number);
      TaskAttemptID chosen = chosen(map, history, bad);
      if (failed || chosen != null) {
        done++;
      }
      // Of a map that failed for good nobody looks at later attempts: some or no data, both right.
      if (!failed && chosen != null) {
        expected.add(chosen);
      }
    }
    assertEquals(done, outcomes.done());
    assertTrue(outcomes.chosen().containsAll(expected));
    for (TaskAttemptID reported : outcomes.toReport()) {
      assertTrue(bad.contains(reported));
      assertEquals(null, chosen(reported.getTaskID().getId(), history, bad));
    }
  }

  @Provide
  Arbitrary<List<Event>> histories() {
    return Combinators.combine(Arbitraries.integers().between(0, MAPS - 1),
            Arbitraries.integers().between(0, ATTEMPTS - 1), Arbitraries.of(Status.class))
        .as(Event::new).list().ofMaxSize(20);
  }

  @Provide
  Arbitrary<Set<TaskAttemptID>> attempts() {
    List<TaskAttemptID> all = IntStream.range(0, MAPS * ATTEMPTS)
        .mapToObj(i -> ReduceHarness.map(i / ATTEMPTS, i % ATTEMPTS))
        .collect(Collectors.toList());
    return Arbitraries.of(all).set().ofMaxSize(4);
  }

  @Test
  void anObsoleteAttemptIsNotUsedEvenIfItsSuccessComesLater() throws IOException {
    MapOutcomes<String> outcomes = new MapOutcomes<>(1);
    outcomes.resolve(ReduceHarness.map(0, 0), Status.OBSOLETE);
    outcomes.resolve(ReduceHarness.map(0, 0), Status.SUCCEEDED);
    assertEquals(List.of(), outcomes.toLookAt());
    assertEquals(0, outcomes.done());
  }

  @Test
  void aMapThatIsNotTheJobsIsAnError() {
    MapOutcomes<String> outcomes = new MapOutcomes<>(1);
    assertThrows(IOException.class,
        () -> outcomes.resolve(ReduceHarness.map(1, 0), Status.SUCCEEDED));
  }
}
