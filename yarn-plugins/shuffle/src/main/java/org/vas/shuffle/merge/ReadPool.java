package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.fs.Path;
import org.vas.shuffle.mof.CallWatch;
import org.vas.shuffle.mof.SegmentFile;

/**
 * Makes blocking calls of a file system in a few daemon threads, with a queue for each OST, and
 * watches over these calls: a call that hangs cannot be ended, but it can be seen.
 */
public final class ReadPool implements SegmentReads {
  static final int THREADS = 4;

  private final ReadTimeout timeout;
  private final LongSupplier nanoClock;
  private final ServerQueues<Consumer<CallWatch>> queues = new ServerQueues<>(THREADS);
  private final List<Worker> workers = new ArrayList<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /**
   * Starts the threads.
   *
   * @param timeout how long each single call may take before {@link #check} fails
   */
  public ReadPool(Duration timeout) {
    this(timeout, System::nanoTime);
  }

  /**
   * Starts the threads, with a clock for tests.
   *
   * @param nanoClock a monotonic clock in nanoseconds
   */
  ReadPool(Duration timeout, LongSupplier nanoClock) {
    this.timeout = new ReadTimeout(timeout);
    this.nanoClock = requireNonNull(nanoClock, "nanoClock");
    for (int i = 0; i < THREADS; i++) {
      Worker worker = new Worker();
      workers.add(worker);
      worker.thread = Daemons.start("vas-read-" + i, worker, this::failed);
    }
  }

  /**
   * Runs {@code calls} in one of the threads; it must tell the watch before each call that may
   * block. What it throws, {@link #check} throws.
   *
   * @param server whose queue the calls join: the OST, or whatever else may hang as one
   */
  public void submit(String server, Consumer<CallWatch> calls) {
    queues.add(server, requireNonNull(calls, "calls"));
  }

  @Override
  public void fill(SegmentFile source, Fill fill) {
    submit(source.server(), watch -> {
      int length = 0;
      Throwable failure = null;
      try {
        length = fill.begin() ? fill.reader().read(fill.buffer(), watch) : 0;
      } catch (Throwable e) { // whatever it is, the one who waits gets it
        failure = e;
      }
      fill.end(length, failure);
    });
  }

  @Override
  public long tick() {
    return timeout.tick();
  }

  @Override
  public void check() throws IOException {
    Throwable cause = failure.get();
    if (cause != null) {
      throw new IOException("a thread that reads map output failed: " + cause, cause);
    }
    long now = nanoClock.getAsLong();
    for (Worker worker : workers) {
      Call call = worker.call;
      if (call != null) {
        timeout.check(call.file, call.started, now);
      }
    }
  }

  /**
   * Drops the calls that wait, and interrupts those that run. Does not wait for their end, because
   * a call of a file system that hangs may never return. A thread ends when its call returns, and
   * only then is the file of that call closed.
   */
  @Override
  public void close() {
    queues.clear();
    workers.forEach(Worker::stop);
  }

  private void failed(Throwable cause) {
    failure.compareAndSet(null, cause);
  }

  /** A call that has not returned, as far as is known. */
  private static final class Call {
    private final Path file;
    private final long started;

    private Call(Path file, long started) {
      this.file = file;
      this.started = started;
    }
  }

  private final class Worker implements Runnable, CallWatch {
    private volatile Call call;
    private volatile boolean stopped;
    private volatile Thread thread;

    @Override
    public void run() {
      try {
        while (!stopped) {
          work(queues.take());
        }
      } catch (InterruptedException e) {
        stopped = true;
      }
    }

    private void work(ServerQueues.Taken<Consumer<CallWatch>> taken) {
      try {
        taken.work().accept(this);
      } catch (Throwable e) { // the thread has to go on, and others wait for what it did not do
        failed(e);
      } finally {
        call = null;
        queues.done(taken);
      }
    }

    @Override
    public void calling(Path file) {
      call = new Call(file, nanoClock.getAsLong());
    }

    private void stop() {
      stopped = true;
      thread.interrupt();
    }
  }
}
