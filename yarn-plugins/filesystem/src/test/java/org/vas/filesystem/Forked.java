package org.vas.filesystem;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Another Java process, which runs a main class of the tests and prints lines that a test reads.
 */
final class Forked implements Closeable {
  private static final int SECONDS = 120;
  private static final String MARK = "> ";

  private final Process process;
  private final BufferedReader lines;

  private Forked(Process process) {
    this.process = process;
    this.lines = new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts a main class; what it writes to stderr appears among the tests' own output. */
  static Forked start(Class<?> main, Map<String, String> environment, String... arguments)
      throws IOException {
    return start(List.of(), main, environment, arguments);
  }

  /** Returns whether this user may have mounts of his own. */
  static boolean maySeeOtherMounts() throws IOException, InterruptedException {
    return new ProcessBuilder("unshare", "-m", "true").start().waitFor() == 0;
  }

  /**
   * Starts a main class with other mounts in /proc/self/mounts than there are: see {@link
   * #maySeeOtherMounts}.
   */
  static Forked seeingMounts(Path list, Class<?> main, String... arguments) throws IOException {
    String script = "mount --bind \"$1\" /proc/$$/mounts && shift && exec \"$@\"";
    return start(List.of("unshare", "-m", "sh", "-euc", script, "sh", list.toString()), main,
        Map.of(), arguments);
  }

  /** Starts a main class that sees an empty file system mounted: see {@link #maySeeOtherMounts}. */
  static Forked seeingMemoryAt(Path directory, Class<?> main, String... arguments)
      throws IOException {
    String script = "mount -t tmpfs tmpfs \"$1\" && shift && exec \"$@\"";
    return start(List.of("unshare", "-m", "sh", "-euc", script, "sh", directory.toString()), main,
        Map.of(), arguments);
  }

  private static Forked start(List<String> before, Class<?> main,
      Map<String, String> environment, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
        System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    Process process = builder.start();
    Thread copying = new Thread(() -> copyErrors(process), "errors of " + main.getSimpleName());
    copying.setDaemon(true);
    copying.start();
    return new Forked(process);
  }

  // Not by inheritance: Maven keeps what goes to System.err with the test that it is of.
  private static void copyErrors(Process process) {
    try {
      process.getErrorStream().transferTo(System.err);
    } catch (IOException ended) {
      // Nobody waits for the last words of a process that was killed.
    }
  }

  /** Compiles a C file of src/test/c into a library to preload. */
  static Path library(String name) throws IOException, InterruptedException {
    Path made = Files.createDirectories(Path.of("target", "c")).resolve(name + ".so");
    Process compiler = new ProcessBuilder("cc", "-O1", "-fPIC", "-shared", "-Wall", "-Werror", "-o",
        made.toString(), Path.of("src", "test", "c", name + ".c").toString(), "-ldl")
        .inheritIO().start();
    if (compiler.waitFor() != 0) {
      throw new IOException(name + ".c: not compiled");
    }
    return made.toAbsolutePath();
  }

  /** In the process itself: prints a line for {@link #line}. */
  static void tell(Object what) {
    System.out.println(MARK + what);
  }

  /** The next line that it told, past its log; null when it has ended. */
  String line() throws IOException {
    String line = lines.readLine();
    while (line != null && !line.startsWith(MARK)) {
      line = lines.readLine();
    }
    return line == null ? null : line.substring(MARK.length());
  }

  /** Waits for its end; returns its exit status. */
  int status() throws IOException, InterruptedException {
    process.getOutputStream().close();
    if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
      throw new IOException("still running after " + SECONDS + " s");
    }
    return process.exitValue();
  }

  /** Ends it as the kernel does, without a word. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
