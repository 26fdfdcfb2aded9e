package org.vas.shuffle.reduce;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the application master for completion events, each once in the life of the task. */
final class EventPoller {
  private static final Logger LOG = LoggerFactory.getLogger(EventPoller.class);
  // Stock's numbers (Shuffle.run, EventFetcher): thousands of reducers share one application master.
  private static final int MOST = 10_000;
  private static final int FEWEST = 100;
  private static final int OUTSTANDING = 3_000_000;
  private static final int FAILURES = 10;
  static final long PERIOD_MILLIS = 1000;
  private static final long RETRY_MILLIS = 5000;

  private final TaskUmbilicalProtocol umbilical;
  private final TaskAttemptID reduce;
  private final int most;
  private final long periodMillis;
  private final Map<TaskAttemptID, String> machines = new HashMap<>();
  private int from;
  private int failures;

  EventPoller(TaskUmbilicalProtocol umbilical, TaskAttemptID reduce, int reducers,
      long periodMillis) {
    this.umbilical = requireNonNull(umbilical, "umbilical");
    this.reduce = requireNonNull(reduce, "reduce");
    this.most = Math.min(MOST, Math.max(FEWEST, OUTSTANDING / Math.max(1, reducers)));
    this.periodMillis = periodMillis;
  }

  /**
   * Passes all completion events that the application master has by now on to the outcomes.
   *
   * @return milliseconds after which to ask again
   * @throws IOException if the application master cannot be asked, ten times in a row
   */
  long poll(MapOutcomes<?> outcomes) throws IOException {
    try {
      int count = most;
      while (count == most) {
        count = ask(outcomes);
      }
      failures = 0;
      return periodMillis;
    } catch (IOException e) {
      if (++failures >= FAILURES) {
        throw new IOException("cannot get map completion events: " + e.getMessage(), e);
      }
      LOG.warn("Cannot get map completion events; asking again", e);
      return RETRY_MILLIS;
    }
  }

  /**
   * Returns the machine where an attempt ran that succeeded, as its event says; empty if nobody
   * knows.
   */
  String machineOf(TaskAttemptID attempt) {
    return machines.getOrDefault(attempt, "");
  }

  private int ask(MapOutcomes<?> outcomes) throws IOException {
    MapTaskCompletionEventsUpdate update =
        umbilical.getMapCompletionEvents(reduce.getJobID(), from, most, reduce);
    if (update.shouldReset()) {
      from = 0;
      outcomes.reset();
    }
    TaskCompletionEvent[] events = update.getMapTaskCompletionEvents();
    for (TaskCompletionEvent event : events) {
      machines.put(event.getTaskAttemptId(), machine(event));
      outcomes.resolve(event.getTaskAttemptId(), event.getTaskStatus());
    }
    from += events.length;
    return events.length;
  }

  private static String machine(TaskCompletionEvent event) {
    String address = event.getTaskTrackerHttp();
    try {
      String host = address == null ? null : new URI(address).getHost();
      return host == null ? "" : host;
    } catch (URISyntaxException e) {
      return address;
    }
  }
}
