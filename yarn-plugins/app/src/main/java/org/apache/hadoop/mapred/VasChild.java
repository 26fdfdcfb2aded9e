package org.apache.hadoop.mapred;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
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

  private VasChild() {}

  /**
   * Runs tasks until there is none, or this JVM is not fit for another.
   *
   * @param arguments as YarnChild's: host and port of the master, the first attempt, the number of
   *     this JVM
   */
  public static void main(String[] arguments) throws Throwable {
    JvmState state = JvmState.now(Path.of("").toAbsolutePath());
    TaskLogs logs = TaskLogs.ofContainer();
    YarnChild.main(arguments);
    logs.end();
    Unfit unfit = state.restore();
    try (AnotherTask another = AnotherTask.at(arguments)) {
      while (unfit == null) {
        Task next = waitForTask(another);
        if (next == null) {
          return;
        }
        logs.begin(next.getTaskID(), another.job());
        YarnChild.main(arguments);
        logs.end();
        unfit = state.restore();
      }
      another.tell(unfit);
    }
    LOG.info("This JVM runs no other task: {}", unfit);
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
