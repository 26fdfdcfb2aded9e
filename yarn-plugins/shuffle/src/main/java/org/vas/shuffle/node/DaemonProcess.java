package org.vas.shuffle.node;

import static java.util.Objects.requireNonNull;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the process {@code vas-shuffled} of a NodeManager running. A process that ended is started
 * again, and told all jobs; it ends by itself when its standard input does, so none outlives its
 * NodeManager. Whatever may take time is done by two threads of this class, never by one of the
 * NodeManager's.
 */
final class DaemonProcess implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(DaemonProcess.class);
  private static final long FIRST_PAUSE_MILLIS = 500;
  private static final long LONGEST_PAUSE_MILLIS = 30_000;
  private static final long END_SECONDS = 5;
  private static final long PIPE_SECONDS = 1;
  private static final long AGAIN_SECONDS = 10;
  private static final int MOST_TRIES = 30;
  private static final long COUNT_SECONDS = 10;
  private static final String READY = "listening on port ";
  private static final String COUNTS = "counts ";

  private final Configuration conf;
  private final TaskUids uids;
  private final Optional<JobSecretFiles> kept;
  private final Set<ApplicationId> wanted = ConcurrentHashMap.newKeySet();
  private final ScheduledThreadPoolExecutor teller;
  private final Thread keeper;
  private final DaemonMetrics metrics = DaemonMetrics.register();
  /** Held while lines are written: whoever reads them may take its time. */
  private final ReentrantLock pipe = new ReentrantLock();
  private final Map<ApplicationId, String> jobs = new LinkedHashMap<>();
  private volatile Process process;
  private volatile boolean closed;

  /**
   * Makes a process that is not started yet, and knows the jobs of earlier lives.
   *
   * @param recovery the directory where jobs are kept for the next life of this NodeManager; empty
   *     where it has none
   */
  DaemonProcess(Configuration conf, Optional<Path> recovery) {
    this(conf, recovery, new TaskUids());
  }

  /** Makes a process with another lookup of users' numbers, for tests. */
  DaemonProcess(Configuration conf, Optional<Path> recovery, TaskUids uids) {
    this.conf = requireNonNull(conf, "conf");
    this.uids = requireNonNull(uids, "uids");
    this.kept = recovery.flatMap(this::recovered);
    this.teller = new ScheduledThreadPoolExecutor(1, task -> daemon(task, "vas-shuffled-jobs"));
    this.keeper = daemon(this::keep, "vas-shuffled");
  }

  private static Thread daemon(Runnable body, String name) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    return thread;
  }

  // A NodeManager that cannot recover JBS's jobs still has everything else to do.
  private Optional<JobSecretFiles> recovered(Path directory) {
    try {
      JobSecretFiles files = new JobSecretFiles(directory);
      jobs.putAll(files.all());
      return Optional.of(files);
    } catch (IOException | RuntimeException e) {
      LOG.error("{}: cannot be used, so that vas-shuffled starts without the jobs of the"
          + " NodeManager's last life, and keeps none for its next: their reducers with NodeMerge"
          + " fail on this node; repair the directory and restart the NodeManager", directory, e);
      return Optional.empty();
    }
  }

  /** Starts the process, and a thread that keeps it running. */
  void start() {
    keeper.start();
    Future<?> unused = teller.scheduleWithFixedDelay(
        this::count, COUNT_SECONDS, COUNT_SECONDS, TimeUnit.SECONDS);
  }

  /** Asks the daemon for its numbers, which go to {@link DaemonMetrics} when it has answered. */
  void count() {
    say("count");
  }

  /**
   * Tells the daemon a job, soon and again after each start; does not wait for that.
   *
   * @throws IOException if the user's name is too long, or has characters that the daemon refuses
   */
  void add(ApplicationId application, String user, byte[] secret) throws IOException {
    JobLine.checkUser(user);
    wanted.add(application);
    byte[] copy = secret.clone();
    submit(() -> tell(application, user, copy, 1), 0);
  }

  /** Tells the daemon that a job is over; does not wait for that. */
  void remove(ApplicationId application) {
    wanted.remove(application);
    submit(() -> forget(application), 0);
  }

  private void submit(Runnable task, long seconds) {
    try {
      Future<?> unused = teller.schedule(task, seconds, TimeUnit.SECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("vas-shuffled is ending, and told nothing more", e);
    }
  }

  private void tell(ApplicationId application, String user, byte[] secret, int tries) {
    if (!wanted.contains(application)) {
      return;
    }
    try {
      String uid = uids.of(Executor.taskUser(conf, user));
      String line = JobLine.of(application, user, uid, secret);
      synchronized (jobs) {
        jobs.put(application, line);
      }
      say(line);
      keep(application, line);
    } catch (IOException e) {
      boolean again = tries < MOST_TRIES;
      LOG.error("{}: not told to vas-shuffled, so reducers with NodeMerge fail on this node{}: {}",
          application, again ? " until it is; trying again" : "", e.getMessage());
      if (again) {
        submit(() -> tell(application, user, secret, tries + 1), AGAIN_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.error("{}: not told to vas-shuffled", application, e);
    }
  }

  private void keep(ApplicationId application, String line) {
    try {
      if (kept.isPresent()) {
        kept.get().put(application, line);
      }
    } catch (IOException e) {
      LOG.error("{}: told to vas-shuffled, but not kept for the NodeManager's next life",
          application, e);
    }
  }

  private void forget(ApplicationId application) {
    boolean known;
    synchronized (jobs) {
      known = jobs.remove(application) != null;
    }
    if (known) {
      say("remove " + application);
    }
    try {
      if (kept.isPresent()) {
        kept.get().remove(application);
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("{}: its secret is left in the recovery directory", application, e);
    }
  }

  /** Writes a line to the process that runs now; the next one is told all jobs. */
  private void say(String line) {
    pipe.lock();
    try {
      Process now = process;
      if (now != null) {
        OutputStream out = now.getOutputStream();
        out.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        out.flush();
      }
    } catch (IOException e) {
      LOG.warn("vas-shuffled does not listen: {}", e.toString());
    } finally {
      pipe.unlock();
    }
  }

  private void keep() {
    long pause = FIRST_PAUSE_MILLIS;
    while (!closed) {
      long started = System.nanoTime();
      try {
        run();
      } catch (IOException | RuntimeException e) {
        LOG.error("vas-shuffled cannot be started: {}", e.toString());
      }
      boolean lived = System.nanoTime() - started > TimeUnit.MILLISECONDS.toNanos(pause) * 2;
      pause = lived ? FIRST_PAUSE_MILLIS : Math.min(LONGEST_PAUSE_MILLIS, 2 * pause);
      if (!closed && !pause(pause)) {
        return;
      }
    }
  }

  private void run() throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(DaemonCommand.of(conf)).redirectErrorStream(true);
    // Nothing of the NodeManager's environment is the daemon's business.
    builder.environment().clear();
    Process started = builder.start();
    try (BufferedReader lines = new BufferedReader(
        new InputStreamReader(started.getInputStream(), StandardCharsets.UTF_8))) {
      running(started);
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(COUNTS)) {
          metrics.told(line.substring(COUNTS.length()));
        } else if (line.startsWith(READY)) {
          LOG.info("vas-shuffled: {}", line);
        } else {
          LOG.warn("vas-shuffled: {}", line);
        }
      }
    } finally {
      process = null;
      started.destroyForcibly();
      metrics.ended();
    }
    LOG.warn("vas-shuffled ended{}", closed ? "" : "; starting it again");
  }

  private void running(Process started) {
    pipe.lock();
    try {
      process = started;
      if (closed) {
        started.destroyForcibly();
        return;
      }
      List<String> all;
      synchronized (jobs) {
        all = new ArrayList<>(jobs.values());
      }
      all.forEach(this::say);
    } finally {
      pipe.unlock();
    }
  }

  private static boolean pause(long millis) {
    try {
      Thread.sleep(millis);
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }

  @Override
  public void close() {
    closed = true;
    teller.shutdownNow();
    keeper.interrupt();
    Process last = process;
    if (last == null) {
      return;
    }
    try {
      if (!endsByItself(last)) {
        last.destroyForcibly();
      }
    } catch (IOException e) {
      last.destroyForcibly();
    } catch (InterruptedException e) {
      last.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  // It does when its input ends; that cannot be closed while somebody waits for it to take a line.
  private boolean endsByItself(Process last) throws IOException, InterruptedException {
    if (!pipe.tryLock(PIPE_SECONDS, TimeUnit.SECONDS)) {
      return false;
    }
    try {
      last.getOutputStream().close();
    } finally {
      pipe.unlock();
    }
    return last.waitFor(END_SECONDS, TimeUnit.SECONDS);
  }
}
