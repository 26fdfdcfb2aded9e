package org.apache.hadoop.mapred;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.metrics2.source.JvmMetrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The JVM of a container that runs one task after another. Each task runs as in stock MapReduce:
 * {@link YarnChild#main} makes its configuration, its connection, its metrics and its user again.
 * {@link JvmState} removes what that leaves behind in the JVM.
 */
public final class VasChild {
  private static final Logger LOG = LoggerFactory.getLogger(VasChild.class);
  private static final long FIRST_WAIT_MILLIS = 5;
  private static final long LONGEST_WAIT_MILLIS = 100;

  private final JvmState state;
  private final TaskLogs logs = TaskLogs.ofContainer();

  private VasChild(JvmState state) {
    this.state = state;
  }

  /**
   * Runs tasks until there is none, or this JVM is not fit for another.
   *
   * @param arguments as YarnChild's: host and port of the master, the first attempt, the number of
   *     this JVM
   */
  public static void main(String[] arguments) throws Throwable {
    VasChild child = new VasChild(JvmState.now(Path.of("").toAbsolutePath()));
    Unfit unfit = child.run(arguments);
    try (AnotherTask another = AnotherTask.at(arguments)) {
      while (unfit == null) {
        Task next = waitForTask(another);
        if (next == null) {
          return;
        }
        String[] ofNext = arguments.clone();
        ofNext[2] = next.getTaskID().toString();
        child.logs.begin(next.getTaskID(), another.job());
        unfit = child.run(ofNext);
      }
      another.tell(unfit);
    }
    LOG.info("This JVM runs no other task: {}", unfit);
  }

  // In the main thread, as stock. A new thread for each task would cost: Hadoop's statistics of file
  // systems keep what each thread counted, and add that up for each record.
  private Unfit run(String[] arguments) throws Throwable {
    YarnChild.main(arguments);
    // The task shut the metrics system down, which forgot its sources: that of the JVM is to register
    // again.
    JvmMetrics.shutdownSingleton();
    logs.end();
    return state.restore();
  }

  // Returns null when there is none.
  private static Task waitForTask(AnotherTask another) throws Exception {
    long wait = FIRST_WAIT_MILLIS;
    while (true) {
      JvmTask answer = another.ask();
      if (answer != null) {
        return answer.shouldDie() ? null : answer.getTask();
      }
      TimeUnit.MILLISECONDS.sleep(wait);
      wait = Math.min(wait * 5 / 4 + 1, LONGEST_WAIT_MILLIS);
    }
  }
}
