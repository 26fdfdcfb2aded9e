package org.vas.workloads.fault;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/**
 * A fault at a named point: at the NTH call of a kind, on a path, in a process whose command line
 * matches. Written {@code NAME PROCESS CALL PATH NTH ACTION}.
 *
 * <p>Calls are open, read, create, write, sync, close (of what is written), rename, renamed (after
 * it), mkdirs, status and list. PROCESS and PATH are regular expressions that are looked for, and
 * hold neither a blank nor a semicolon. The ACTION is
 *
 * <ul>
 *   <li>{@code hold}: once, the process writes its id and its host's name to a file with the
 *       point's name, and goes on when a file NAME.go is there. So a test can kill it just there,
 *       or change what it is about to read;
 *   <li>{@code short}: from then on, a read gives one byte of two asked for;
 *   <li>{@code slow:MILLISECONDS}: from then on, each call takes so much longer;
 *   <li>{@code exit:STATUS}: the process ends with that status;
 *   <li>{@code thread}: once, the process gets a thread that lives for ten seconds;
 *   <li>an errno's name, such as {@code EIO}: from then on, calls fail with it.
 * </ul>
 */
final class FaultPoint {
  static final String SHORT = "short";

  private static final String HOLD = "hold";
  private static final String SLOW = "slow:";
  private static final String EXIT = "exit:";
  private static final String THREAD = "thread";
  private static final long THREAD_MILLIS = 10_000;
  private static final long TICK_MILLIS = 50;
  private static final int WORDS = 6;
  private static final Map<String, String> ERRNOS = Map.of("EIO", "Input/output error",
      "ENOSPC", "No space left on device", "EDQUOT", "Disk quota exceeded",
      "ESTALE", "Stale file handle", "EACCES", "Permission denied");

  private final String name;
  private final Pattern process;
  private final String call;
  private final Pattern path;
  private final int nth;
  private final String action;
  private final Path directory;
  private final AtomicInteger calls = new AtomicInteger();

  private FaultPoint(String text, Path directory) {
    String[] words = text.trim().split("\\s+", -1);
    if (words.length != WORDS) {
      throw new IllegalArgumentException(FaultConf.POINTS.name() + ": " + text
          + ": expected NAME PROCESS CALL PATH NTH ACTION");
    }
    this.name = words[0];
    this.process = Pattern.compile(words[1]);
    this.call = words[2];
    this.path = Pattern.compile(words[3]);
    this.nth = Integer.parseInt(words[4]);
    this.action = words[5];
    this.directory = directory;
    boolean known = List.of(HOLD, SHORT, THREAD).contains(action)
        || action.startsWith(SLOW) || action.startsWith(EXIT);
    if (!known && !ERRNOS.containsKey(action)) {
      throw new IllegalArgumentException(
          FaultConf.POINTS.name() + ": " + name + ": '" + action + "' is not an action");
    }
  }

  /**
   * Returns the points that {@code fault.points} has for this process.
   *
   * @throws IllegalArgumentException if a point is not of this form
   */
  static List<FaultPoint> of(Configuration conf) {
    Path directory = Path.of(FaultConf.DIRECTORY.get(conf));
    String command = System.getProperty("sun.java.command", "");
    return Stream.of(FaultConf.POINTS.get(conf).split(";", -1))
        .filter(text -> !text.isBlank())
        .map(text -> new FaultPoint(text, directory))
        .filter(point -> point.process.matcher(command).find())
        .collect(Collectors.toList());
  }

  boolean gives(String wanted) {
    return action.equals(wanted);
  }

  /**
   * Causes the fault if this point is about this call and this file, and its count is reached.
   * Returns whether it did.
   *
   * @throws IOException if the action is an error
   */
  boolean at(String happening, String file) throws IOException {
    if (!call.equals(happening) || !path.matcher(file).find()) {
      return false;
    }
    int count = calls.incrementAndGet();
    if (count < nth) {
      return false;
    }
    if (action.equals(HOLD) || action.equals(THREAD)) {
      if (count == nth) {
        once();
      }
    } else if (action.startsWith(SLOW)) {
      sleep(Long.parseLong(action.substring(SLOW.length())));
    } else if (action.startsWith(EXIT)) {
      System.exit(Integer.parseInt(action.substring(EXIT.length())));
    } else if (!action.equals(SHORT)) {
      throw new IOException(
          file + ": " + call + ": " + action + " (" + ERRNOS.get(action) + ")");
    }
    return true;
  }

  private void once() throws IOException {
    if (action.equals(HOLD)) {
      hold();
    } else {
      new Thread(FaultPoint::live, "left by point " + name).start();
    }
  }

  private static void live() {
    try {
      Thread.sleep(THREAD_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void hold() throws IOException {
    // Whole or not at all: somebody waits for it to appear. Other processes may come here as well.
    Path unfinished = directory.resolve(name + "." + UUID.randomUUID());
    Files.writeString(unfinished, ProcessHandle.current().pid() + " " + System.getenv("NM_HOST"));
    Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    while (!Files.exists(directory.resolve(name + ".go"))) {
      sleep(TICK_MILLIS);
    }
  }

  private static void sleep(long millis) throws IOException {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted").initCause(e);
    }
  }
}
