package org.vas.scheduler;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs tasks that write, in order in one thread, so that a slow disk never holds a heartbeat; the
 * queue is bounded.
 */
final class BoundedWriter {
  /** The largest number of tasks that wait; further ones are left out. */
  static final int LONGEST_QUEUE = 10_000;
  private static final int IDLE_SECONDS = 5;

  private final ThreadPoolExecutor thread;

  /**
   * Makes a writer; its thread starts with the first task.
   *
   * @param leftOut is run for each task that is left out
   */
  BoundedWriter(String name, Runnable leftOut) {
    thread = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS,
        new ArrayBlockingQueue<>(LONGEST_QUEUE), task -> daemon(task, name),
        (task, executor) -> leftOut.run());
    thread.allowCoreThreadTimeOut(true);
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  void run(Runnable task) {
    thread.execute(task);
  }

  /**
   * Waits until all tasks so far have ended; for tests.
   * @throws IllegalStateException if the thread takes no more tasks
   */
  void drain() throws InterruptedException {
    Callable<Boolean> last = () -> true;
    try {
      thread.submit(last).get();
    } catch (ExecutionException | RejectedExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
