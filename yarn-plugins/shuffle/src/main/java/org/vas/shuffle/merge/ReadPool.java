package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.hadoop.fs.Path;

/**
 * A few daemon threads that do blocking calls of a file system, first come first served, and the
 * watch over them: a call that hangs cannot be ended, but it can be seen.
 */
public final class ReadPool implements Closeable {
  private static final int THREADS = 4;

  private final Duration timeout;
  private final BlockingQueue<Work> queue = new LinkedBlockingQueue<>();
  private final List<Worker> workers = new ArrayList<>();

  /** Starts the threads. A call may take that long; see {@link #check}. */
  public ReadPool(Duration timeout) {
    this.timeout = requireNonNull(timeout, "timeout");
    for (int i = 0; i < THREADS; i++) {
      Worker worker = new Worker();
      workers.add(worker);
      Daemons.start("vas-read-" + i, worker);
    }
  }

  /** Runs it in one of the threads. It must not throw. */
  public void submit(Path path, Runnable call) {
    queue.add(new Work(path, call));
  }

  /** Milliseconds after which one who waits for a call should look with {@link #check}. */
  public long tick() {
    return Math.max(10, Math.min(1000, timeout.toMillis() / 4));
  }

  /** Throws an IOException that names the file, if a call takes longer than it may. */
  public void check() throws IOException {
    long now = System.nanoTime();
    for (Worker worker : workers) {
      Work current = worker.current;
      if (current != null && now - current.started > timeout.toNanos()) {
        throw new IOException(current.path + ": no answer for " + timeout.toMillis()
            + " ms (vas.shuffle.read-timeout): the file system hangs");
      }
    }
  }

  /** Drops what waits, and interrupts what runs. */
  @Override
  public void close() {
    queue.clear();
    workers.forEach(Worker::stop);
  }

  private static final class Work {
    private final Path path;
    private final Runnable call;
    private volatile long started;

    private Work(Path path, Runnable call) {
      this.path = path;
      this.call = call;
    }
  }

  private final class Worker implements Runnable {
    private volatile Work current;
    private volatile boolean stopped;
    private volatile Thread thread;

    @Override
    public void run() {
      thread = Thread.currentThread();
      while (!stopped) {
        try {
          Work work = queue.take();
          work.started = System.nanoTime();
          current = work;
          work.call.run();
        } catch (InterruptedException e) {
          stopped = true;
        } finally {
          current = null;
        }
      }
    }

    private void stop() {
      stopped = true;
      Thread running = thread;
      if (running != null) {
        running.interrupt();
      }
    }
  }
}
