package org.vas.shuffle.merge;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;

/**
 * Work for a few threads, in a queue for each server. Threads take turns over the queues, and no
 * server gets all of them: one that is slow does not stop the work of the others.
 *
 * @param <T> a piece of work
 */
public final class ServerQueues<T> {
  private final int threads;
  private final Map<String, Line<T>> byServer = new HashMap<>();
  private final Deque<Line<T>> turns = new ArrayDeque<>();

  /** The work of one server: what waits, and how much is being done. */
  private static final class Line<T> {
    private final Queue<T> waiting = new ArrayDeque<>();
    private int running;
  }

  /** A piece of work that was taken; {@link ServerQueues#done} has to follow. */
  public static final class Taken<T> {
    private final T work;
    private final Line<T> line;

    private Taken(T work, Line<T> line) {
      this.work = work;
      this.line = line;
    }

    /** Returns the work itself, as it was added. */
    public T work() {
      return work;
    }
  }

  /**
   * Makes queues without work.
   *
   * @param threads the number of threads that will take work, or of pieces that are done at once
   */
  public ServerQueues(int threads) {
    this.threads = threads;
  }

  /** Adds work to the queue of a server. */
  public synchronized void add(String server, T work) {
    byServer.computeIfAbsent(server, name -> {
      Line<T> line = new Line<>();
      turns.add(line);
      return line;
    }).waiting.add(work);
    notifyAll();
  }

  /** Waits for work of the next server that does not have its share of threads yet. */
  synchronized Taken<T> take() throws InterruptedException {
    Taken<T> taken = poll();
    while (taken == null) {
      wait();
      taken = poll();
    }
    return taken;
  }

  /** Notes that taken work is done, which gives its server's share back. */
  public synchronized void done(Taken<T> taken) {
    taken.line.running--;
    notifyAll();
  }

  /** Drops all work that no thread has taken yet. */
  public synchronized void clear() {
    turns.forEach(line -> line.waiting.clear());
  }

  /** Takes work of the next server that does not have its share yet; null if there is none. */
  public synchronized Taken<T> poll() {
    for (int i = turns.size(); i > 0; i--) {
      Line<T> line = turns.poll();
      turns.add(line);
      if (!line.waiting.isEmpty() && line.running < share()) {
        line.running++;
        return new Taken<>(line.waiting.poll(), line);
      }
    }
    return null;
  }

  // One thread is left even while only one server is known: the next may show up at any time.
  private int share() {
    return Math.max(1, Math.min(threads - 1, threads / turns.size()));
  }
}
