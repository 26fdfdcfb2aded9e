package org.vas.scheduler;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.scheduler.policy.PlacementEvent;

/**
 * One line per decision, key=value, by the logger {@code vas.placement}: see docs/placement.md.
 * A thread of its own writes them, in order, so that a slow disk never holds a heartbeat; of more
 * than {@value #LONGEST_QUEUE} that wait, further ones are counted and left out.
 */
final class DecisionLog {
  private static final Logger LOG = LoggerFactory.getLogger("vas.placement");
  private static final int LONGEST_QUEUE = 10_000;
  private static final int IDLE_SECONDS = 5;

  private final ThreadPoolExecutor writer;

  /**
   * Makes a log; its thread starts with the first line.
   *
   * @param leftOut is run for each line that is left out
   */
  DecisionLog(Runnable leftOut) {
    writer = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS,
        new ArrayBlockingQueue<>(LONGEST_QUEUE), DecisionLog::daemon,
        (line, executor) -> leftOut.run());
    writer.allowCoreThreadTimeOut(true);
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "vas-placement-log");
    thread.setDaemon(true);
    return thread;
  }

  void decided(ApplicationId app, PlacementEvent event) {
    write(() -> LOG.info("event={} app={} key={} host={} waited_ms={} cause={}",
        event.type(), app, event.key(), event.host(), event.waitedMillis(), event.cause()));
  }

  void granted(ApplicationId app, ContainerId container, PlacementEvent event) {
    write(() -> LOG.info(
        "event={} app={} key={} host={} node={} locality={} waited_ms={} cause={} container={}",
        event.type(), app, event.key(), event.host(), event.node(), event.locality(),
        event.waitedMillis(), event.cause(), container));
  }

  private void write(Runnable line) {
    if (LOG.isInfoEnabled()) {
      writer.execute(line);
    }
  }

  /** Waits until all lines so far are written; for tests. */
  void drain() throws InterruptedException {
    Callable<Boolean> last = () -> true;
    try {
      writer.submit(last).get();
    } catch (ExecutionException | RejectedExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
