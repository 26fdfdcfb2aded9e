package org.vas.shuffle.daemon;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.crypto.SecretKey;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.vas.shuffle.DaemonConf;
import org.vas.shuffle.ShuffleConf;
import org.vas.shuffle.merge.Daemons;
import org.vas.shuffle.merge.ReadTimeout;
import org.vas.shuffle.merge.SegmentReads;
import org.vas.shuffle.merge.ServerQueues;
import org.vas.shuffle.mof.CallWatch;
import org.vas.shuffle.mof.SegmentFile;

/**
 * Makes all requests of one task to its node's daemon, and its reads of local files, in one thread.
 * A few requests are on their way at a time, and no node gets all of them. A request that fails for
 * a reason which may pass, as a daemon that is being restarted, is made again until the job's
 * patience ends.
 */
public final class DaemonReads implements SegmentReads {
  /** Requests that are on their way at most, each on a connection of its own. */
  static final int CONNECTIONS = 4;

  // The first may find out only that a connection is dead, which says nothing of the node behind it.
  private static final int FEWEST_TRIES = 2;
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 3000;

  private final ReadTimeout timeout;
  private final Duration patience;
  private final boolean sealed; // the job demands TLS between nodes
  private final ServerQueues<Asking> queues = new ServerQueues<>(CONNECTIONS);
  private final Set<Asking> running = ConcurrentHashMap.newKeySet();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final DaemonLoop loop;
  private final Thread thread;
  private volatile boolean closed;

  /** Takes the answer to a look. */
  @FunctionalInterface
  public interface Looked {
    /**
     * Is called once, by the thread of the reads.
     *
     * @param segment null where there is a cause
     * @param cause why the segment cannot be looked at: a {@link RefusedException} if the map's node
     *     says no, or cannot be reached for too long (its refusal tells whether this node is to blame);
     *     another IOException if this node's daemon does not answer for too long
     */
    void looked(LookedSegment segment, Throwable cause);
  }

  /**
   * Starts the thread; nothing is connected before the first request.
   *
   * @param eachSecond is called about once a second by the thread, and must not block
   */
  public DaemonReads(JobConf conf, JobID job, SecretKey secret, Runnable eachSecond)
      throws IOException {
    this.timeout = new ReadTimeout(ShuffleConf.READ_TIMEOUT.get(conf));
    this.patience = DaemonConf.PATIENCE.get(conf);
    this.sealed = conf.getBoolean(
        MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT);
    this.loop = new DaemonLoop(this, conf, job, secret, requireNonNull(eachSecond, "eachSecond"));
    this.thread = Daemons.start("vas-read-0", loop, cause -> failure.compareAndSet(null, cause));
  }

  /**
   * Asks for sizes and checksums of a segment, and returns at once.
   *
   * @param machine the map's node, whose queue the request joins
   * @param mayHold whether the bytes of a small segment may come along
   * @param verify whether the map's node is to check IFile's own checksum; not where the segment is
   *     encrypted
   * @param done takes the answer
   */
  public void look(SegmentAddress at, String machine, boolean mayHold, boolean verify, Looked done) {
    int hold = mayHold ? DaemonConnection.LARGEST_HELD : 0;
    add(machine, new Asking(at.path(), new LookRequest(at, hold, verify, sealed, done), null));
  }

  @Override
  public void fill(SegmentFile source, Fill fill) {
    Path file = source.file();
    if (!SegmentAddress.SCHEME.equals(file.toUri().getScheme())) {
      add(source.server(), new Asking(file, null, fill));
      return;
    }
    SegmentAddress at = SegmentAddress.of(file);
    add(source.server(), new Asking(file, new ReadRequest(at, fill), null));
  }

  private void add(String server, Asking asking) {
    asking.server = server;
    queues.add(server, asking);
    loop.wakeUp();
  }

  @Override
  public long tick() {
    return timeout.tick();
  }

  @Override
  public void check() throws IOException {
    Throwable cause = failure.get();
    if (cause != null) {
      throw new IOException("the thread that reads map output failed: " + cause, cause);
    }
    long now = System.nanoTime();
    for (Asking each : running) {
      timeout.check(each.file, each.called, now);
    }
  }

  /** Ends all connections; requests on their way fail. May be called twice. */
  @Override
  public void close() {
    closed = true;
    queues.clear();
    thread.interrupt();
  }

  boolean isClosed() {
    return closed;
  }

  ServerQueues<Asking> queues() {
    return queues;
  }

  void began(Asking asking) {
    asking.called = System.nanoTime();
    running.add(asking);
  }

  void ended(Asking asking) {
    running.remove(asking);
  }

  /** Notes an error that no request can be told; {@link #check} throws it. */
  void failed(Throwable cause) {
    failure.compareAndSet(null, cause);
  }

  /** Adds a request to the queue of its server again. */
  void again(Asking asking) {
    queues.add(asking.server, asking);
  }

  /** Returns the milliseconds to wait before a failed request is made again; -1 if it is not. */
  long pause(Asking asking, IOException cause) {
    boolean passes = !(cause instanceof RefusedException)
        || ((RefusedException) cause).refusal().mayPass();
    long left = patience.toNanos() - (System.nanoTime() - asking.firstAsked);
    if (closed || !passes || (asking.tries >= FEWEST_TRIES && left < 0)) {
      return -1;
    }
    return Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(10, asking.tries - 1));
  }

  /** A request to the daemon, or a read of a local file, and how often it was tried. */
  static final class Asking implements CallWatch {
    final Path file;
    final DaemonRequest request; // null of a local file
    private final Fill local;
    private String server = "";
    private volatile long called; // when the call that runs began
    private long firstAsked;
    private long dueNanos;
    private int tries;

    private Asking(Path file, DaemonRequest request, Fill local) {
      this.file = file;
      this.request = request;
      this.local = local;
    }

    /** Returns whether the request has not been made yet. */
    boolean isNew() {
      return tries == 0;
    }

    void tried() {
      if (tries++ == 0) {
        firstAsked = System.nanoTime();
      }
    }

    /** Forgets the tries, because the next request is for another piece. */
    void succeeded() {
      tries = 0;
    }

    void later(long millis) {
      dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    long millisUntilDue() {
      return Math.max(0, TimeUnit.NANOSECONDS.toMillis(dueNanos - System.nanoTime() + 999_999));
    }

    /** Reads the local file into the buffer that waits for it. */
    void readLocal() {
      int length = 0;
      Throwable cause = null;
      try {
        length = local.begin() ? local.reader().read(local.buffer(), this) : 0;
      } catch (Throwable e) { // whatever it is, the one who waits gets it
        cause = e;
      }
      local.end(length, cause);
    }

    @Override
    public void calling(Path path) {
      called = System.nanoTime();
    }
  }
}
