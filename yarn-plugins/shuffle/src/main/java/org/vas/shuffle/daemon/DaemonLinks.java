package org.vas.shuffle.daemon;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import javax.crypto.SecretKey;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.DaemonConf;

/**
 * The connections of one task to its node's daemon: one for each thread that asks at a time. What
 * may pass, as a daemon that is being restarted, is asked again until the job's patience ends.
 */
public final class DaemonLinks implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(DaemonLinks.class);
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 3000;
  // The first may find out only that a connection is dead, which says nothing of the node behind it.
  private static final int FEWEST_TRIES = 2;

  private final JobConf conf;
  private final JobID job;
  private final SecretKey secret;
  private final Duration patience;
  private final Deque<DaemonConnection> idle = new ArrayDeque<>();
  private final Set<DaemonConnection> all = new HashSet<>();
  private boolean closed;

  /** A request on one connection. */
  @FunctionalInterface
  private interface Request<T> {
    T on(DaemonConnection connection) throws IOException;
  }

  /** Makes the links of a task; nothing is connected before the first request. */
  public DaemonLinks(JobConf conf, JobID job, SecretKey secret) {
    this.conf = requireNonNull(conf, "conf");
    this.job = requireNonNull(job, "job");
    this.secret = requireNonNull(secret, "secret");
    this.patience = DaemonConf.PATIENCE.get(conf);
  }

  /**
   * Asks for sizes and checksums of a segment.
   *
   * @param mayHold whether the bytes of a small segment may come along
   * @param verify whether the map's node is to check IFile's own checksum; not where the segment is
   *     encrypted
   * @param before is called before each try, and whenever there is progress
   * @throws RefusedException if the map's node says no, or cannot be reached for too long; its
   *     refusal tells whether this node is to blame
   * @throws IOException if this node's daemon does not answer for too long
   */
  public LookedSegment look(SegmentAddress at, boolean mayHold, boolean verify, Runnable before)
      throws IOException {
    int hold = mayHold ? DaemonConnection.LARGEST_HELD : 0;
    return patiently(at, before, link -> link.look(at, hold, verify, before));
  }

  /** Fills a part of a buffer with a segment's bytes; throws as {@link #look} does. */
  void read(SegmentAddress at, long offset, byte[] buffer, int start, int length)
      throws IOException {
    for (int done = 0; done < length; done += DaemonConnection.LARGEST_READ) {
      int from = done;
      int count = Math.min(DaemonConnection.LARGEST_READ, length - done);
      patiently(at, () -> {}, link -> {
        link.read(at, offset + from, buffer, start + from, count);
        return null;
      });
    }
  }

  private <T> T patiently(SegmentAddress at, Runnable before, Request<T> request)
      throws IOException {
    long end = System.nanoTime() + patience.toNanos();
    long pause = FIRST_PAUSE_MILLIS;
    for (int tries = 1; ; tries++) {
      before.run();
      try {
        return once(request);
      } catch (IOException e) {
        boolean passes = !(e instanceof RefusedException)
            || ((RefusedException) e).refusal().mayPass();
        boolean enough = tries >= FEWEST_TRIES && System.nanoTime() - end > 0;
        if (isClosed() || !passes || enough) {
          throw e;
        }
        LOG.info("{}: asking again: {}", at, e.toString());
      }
      pause(pause);
      pause = Math.min(LONGEST_PAUSE_MILLIS, 2 * pause);
    }
  }

  private <T> T once(Request<T> request) throws IOException {
    DaemonConnection link = take();
    boolean usable = false;
    try {
      T answer = request.on(link);
      usable = true;
      return answer;
    } catch (RefusedException e) {
      usable = true;
      throw e;
    } catch (IOException e) {
      // Of a daemon that was started again all connections are dead.
      dropIdle();
      throw e;
    } finally {
      give(link, usable);
    }
  }

  private DaemonConnection take() throws IOException {
    synchronized (this) {
      if (closed) {
        throw new IOException("the task is ending");
      }
      if (!idle.isEmpty()) {
        return idle.pop();
      }
    }
    DaemonConnection made = connect();
    synchronized (this) {
      if (!closed) {
        all.add(made);
        return made;
      }
    }
    made.close();
    throw new IOException("the task is ending");
  }

  // Not a refusal of the map's node: that would have the map run again for what is wrong here.
  private DaemonConnection connect() throws IOException {
    try {
      return new DaemonConnection(DaemonSocket.connect(conf), job, secret);
    } catch (RefusedException e) {
      throw new IOException("this node's vas-shuffled refuses " + job + ": " + e.getMessage(), e);
    }
  }

  private void give(DaemonConnection link, boolean usable) throws IOException {
    synchronized (this) {
      if (usable && !closed) {
        idle.push(link);
        return;
      }
      all.remove(link);
    }
    link.close();
  }

  private synchronized void dropIdle() {
    idle.forEach(DaemonLinks::close);
    all.removeAll(idle);
    idle.clear();
  }

  private static void close(DaemonConnection link) {
    try {
      link.close();
    } catch (IOException e) {
      LOG.debug("Closing a connection to the daemon", e);
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private static void pause(long millis) throws IOException {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted").initCause(e);
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    all.forEach(DaemonLinks::close);
    all.clear();
    idle.clear();
  }
}
