package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Asks the application master for each event once, in parts, once a second. */
class EventPollerTest {
  private static final TaskAttemptID REDUCE = new TaskAttemptID("1", 1, TaskType.REDUCE, 0, 0);

  private final List<String> asked = new ArrayList<>();
  private int events;
  private boolean gone;

  private EventPoller poller(int reducers) {
    TaskUmbilicalProtocol umbilical = (TaskUmbilicalProtocol) Proxy.newProxyInstance(
        getClass().getClassLoader(), new Class<?>[] {TaskUmbilicalProtocol.class},
        (proxy, method, args) -> answer((int) args[1], (int) args[2]));
    return new EventPoller(umbilical, REDUCE, reducers, EventPoller.PERIOD_MILLIS);
  }

  private MapTaskCompletionEventsUpdate answer(int from, int most) throws IOException {
    if (gone) {
      throw new IOException("connection refused");
    }
    asked.add(from + "+" + most);
    TaskCompletionEvent[] part = new TaskCompletionEvent[Math.min(most, events - from)];
    for (int i = 0; i < part.length; i++) {
      part[i] = new TaskCompletionEvent(from + i, ReduceHarness.map(from + i, 0), from + i, true,
          Status.SUCCEEDED, "http://here:0");
    }
    return new MapTaskCompletionEventsUpdate(part, false);
  }

  @ParameterizedTest
  @CsvSource({"1, 10000", "300, 10000", "1000, 3000", "100000, 100"})
  void manyReducersAskForFewAtOnce(int reducers, int most) throws IOException {
    poller(reducers).poll(new MapOutcomes<>(0));
    assertEquals(List.of("0+" + most), asked);
  }

  @Test
  void eachEventIsAskedForOnceInTheLifeOfTheTask() throws IOException {
    EventPoller poller = poller(100_000);
    MapOutcomes<String> outcomes = new MapOutcomes<>(260);
    events = 250;
    assertEquals(1000, poller.poll(outcomes), "about once a second");
    events = 260;
    poller.poll(outcomes);
    assertEquals(List.of("0+100", "100+100", "200+100", "250+100"), asked);
    assertEquals(260, outcomes.toLookAt().size());
  }

  @Test
  void aMasterThatIsGoneIsAskedTenTimes() {
    EventPoller poller = poller(1);
    gone = true;
    IOException e = assertThrows(IOException.class, () -> {
      for (int i = 0; i < 10; i++) {
        assertTrue(poller.poll(new MapOutcomes<>(0)) > 1000, "and not at once");
      }
    });
    assertEquals("cannot get map completion events: connection refused", e.getMessage());
  }
}
