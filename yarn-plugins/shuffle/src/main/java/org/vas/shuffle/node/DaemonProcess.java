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
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.StringUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.DaemonConf;

/**
 * The process {@code vas-shuffled} of a NodeManager. One that ended is started again, and told all
 * jobs; it ends by itself when its standard input does, so none outlives its NodeManager.
 */
final class DaemonProcess implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(DaemonProcess.class);
  private static final long FIRST_PAUSE_MILLIS = 500;
  private static final long LONGEST_PAUSE_MILLIS = 30_000;
  private static final long END_SECONDS = 5;

  private final Configuration conf;
  private final Optional<JobSecretFiles> kept;
  private final Map<ApplicationId, String> jobs = new LinkedHashMap<>();
  private final Map<String, String> uids = new LinkedHashMap<>();
  private final Thread keeper;
  private Process process;
  private boolean closed;

  /**
   * Makes a process that is not started yet, and knows the jobs of earlier lives.
   *
   * @param recovery the directory where jobs are kept for the next life of this NodeManager; empty
   *     where it has none
   */
  DaemonProcess(Configuration conf, Optional<Path> recovery) throws IOException {
    this.conf = requireNonNull(conf, "conf");
    this.kept = recovery.isPresent()
        ? Optional.of(new JobSecretFiles(recovery.get())) : Optional.empty();
    if (kept.isPresent()) {
      jobs.putAll(kept.get().all());
    }
    this.keeper = new Thread(this::keep, "vas-shuffled");
    keeper.setDaemon(true);
  }

  /** Starts the process, and a thread that keeps it running. */
  void start() {
    keeper.start();
  }

  /** Tells the daemon a job, now and after each start. Throws IOException if the user is not known. */
  void add(ApplicationId application, String user, byte[] secret) throws IOException {
    String uid = uid(Executor.taskUser(conf, user));
    String line = "add " + application + " " + user + " " + uid + " "
        + StringUtils.byteToHexString(secret);
    tell(application, line);
    if (kept.isPresent()) {
      kept.get().put(application, line);
    }
  }

  /** Tells the daemon that a job is over. */
  synchronized void remove(ApplicationId application) throws IOException {
    if (jobs.remove(application) != null) {
      say("remove " + application);
    }
    if (kept.isPresent()) {
      kept.get().remove(application);
    }
  }

  private synchronized void tell(ApplicationId application, String line) {
    jobs.put(application, line);
    say(line);
  }

  /** Writes a line to the process that runs now; the next one is told all jobs. */
  private void say(String line) {
    if (process == null) {
      return;
    }
    try {
      OutputStream out = process.getOutputStream();
      out.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      out.flush();
    } catch (IOException e) {
      LOG.warn("vas-shuffled does not listen: {}", e.toString());
    }
  }

  private void keep() {
    long pause = FIRST_PAUSE_MILLIS;
    while (!isClosed()) {
      long started = System.nanoTime();
      try {
        run();
      } catch (IOException | RuntimeException e) {
        LOG.error("vas-shuffled cannot be started: {}", e.toString());
      }
      boolean lived = System.nanoTime() - started > TimeUnit.MILLISECONDS.toNanos(pause) * 2;
      pause = lived ? FIRST_PAUSE_MILLIS : Math.min(LONGEST_PAUSE_MILLIS, 2 * pause);
      if (!isClosed() && !pause(pause)) {
        return;
      }
    }
  }

  private void run() throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command()).redirectErrorStream(true);
    // Nothing of the NodeManager's environment is the daemon's business.
    builder.environment().clear();
    Process started = builder.start();
    if (!running(started)) {
      started.destroyForcibly();
      return;
    }
    try (BufferedReader lines = new BufferedReader(
        new InputStreamReader(started.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        LOG.info("vas-shuffled: {}", line);
      }
    } finally {
      ended();
      started.destroyForcibly();
    }
    LOG.warn("vas-shuffled ended{}", isClosed() ? "" : "; starting it again");
  }

  private synchronized boolean running(Process started) {
    if (closed) {
      return false;
    }
    process = started;
    jobs.values().forEach(this::say);
    return true;
  }

  private synchronized void ended() {
    process = null;
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private static boolean pause(long millis) {
    try {
      Thread.sleep(millis);
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }

  private List<String> command() throws IOException {
    List<String> words = new ArrayList<>(List.of(DaemonConf.PROGRAM.get(conf),
        "--listen", "[::]:" + DaemonConf.PORT.get(conf),
        "--memory", Long.toString(DaemonConf.MEMORY.get(conf) >> 20)));
    int metrics = DaemonConf.METRICS_PORT.get(conf);
    if (metrics > 0) {
      words.addAll(List.of("--metrics", "127.0.0.1:" + metrics));
    }
    for (String directory : conf.getTrimmedStrings(YarnConfiguration.NM_LOCAL_DIRS)) {
      words.add(Path.of(directory.replaceFirst("^file:/+", "/")).toAbsolutePath().toString());
    }
    return words;
  }

  // The number that file systems and sockets know the user by; the JDK has no call for it.
  private synchronized String uid(Optional<String> user) throws IOException {
    String known = uids.get(user.orElse(""));
    if (known != null) {
      return known;
    }
    List<String> words = new ArrayList<>(List.of("id", "-u"));
    user.ifPresent(name -> words.addAll(List.of("--", name)));
    Process id = new ProcessBuilder(words).redirectErrorStream(true).start();
    String answer;
    try (BufferedReader lines = new BufferedReader(
        new InputStreamReader(id.getInputStream(), StandardCharsets.UTF_8))) {
      answer = lines.readLine();
    }
    if (answer == null || !answer.matches("[0-9]{1,10}")) {
      throw new IOException("the number of user " + user.orElse("(own)") + " is not known: " + answer);
    }
    uids.put(user.orElse(""), answer);
    return answer;
  }

  @Override
  public void close() {
    Process last;
    synchronized (this) {
      closed = true;
      last = process;
    }
    keeper.interrupt();
    if (last == null) {
      return;
    }
    try {
      last.getOutputStream().close();
      if (!last.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        last.destroyForcibly();
      }
    } catch (IOException e) {
      last.destroyForcibly();
    } catch (InterruptedException e) {
      last.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
