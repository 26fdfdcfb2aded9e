package org.vas.shuffle.node;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.Closeable;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** A node with the real vas-shuffled, started as a NodeManager does, for one job of this user. */
public final class RealDaemon implements Closeable {
  /** The name under which the job's files lie. */
  public static final String USER = "alice";

  /** Bytes that it holds for reducers at most. */
  public static final long MEMORY = 8 << 20;

  static final Path PROGRAM =
      Path.of("../../shuffled/target/release/vas-shuffled").toAbsolutePath().normalize();

  private final Path local;
  private final ApplicationId application;
  private final int port;
  private final DaemonProcess process;

  /** Tells whether the daemon is built, which takes a Rust compiler. */
  public static boolean isBuilt() {
    return Files.isExecutable(PROGRAM);
  }

  /**
   * Starts the daemon; the test is skipped where it is not built.
   *
   * @param local the node's local directory
   */
  public RealDaemon(Path local, ApplicationId application, byte[] secret) throws IOException {
    this(local, application, secret, Map.of());
  }

  /** Starts the daemon with some more keys of its NodeManager. */
  public RealDaemon(Path local, ApplicationId application, byte[] secret, Map<String, String> keys)
      throws IOException {
    assumeTrue(isBuilt(), "vas-shuffled is not built");
    this.local = Files.createDirectories(local);
    this.application = application;
    try (ServerSocket free = new ServerSocket(0)) {
      this.port = free.getLocalPort();
    }
    JobConf conf = new JobConf(false);
    conf.set("vas.shuffled.program", PROGRAM.toString());
    conf.setLong("vas.shuffled.memory", MEMORY);
    conf.setInt("vas.shuffled.port", port);
    conf.set(YarnConfiguration.NM_LOCAL_DIRS, local.toString());
    keys.forEach(conf::set);
    this.process = new DaemonProcess(conf, Optional.empty());
    process.start();
    process.add(application, USER, secret);
  }

  /** Returns the job's directory in the node's local one, which is the tasks' local directory. */
  public Path jobDirectory() throws IOException {
    return Files.createDirectories(
        local.resolve("usercache").resolve(USER).resolve("appcache").resolve("" + application));
  }

  /** Kills the process with SIGKILL, if it runs; it is started again. Returns how many were killed. */
  public int kill() {
    List<ProcessHandle> running = running();
    running.forEach(ProcessHandle::destroyForcibly);
    return running.size();
  }

  private List<ProcessHandle> running() {
    return ProcessHandle.current().children()
        .filter(child -> child.info().command().orElse("").equals(PROGRAM.toString()))
        .filter(child -> Arrays.stream(child.info().arguments().orElse(new String[0]))
            .anyMatch(word -> word.endsWith(":" + port)))
        .collect(Collectors.toList());
  }

  /** Returns the most bytes of memory that the process that runs now has had at once. */
  public long peakBytes() throws IOException {
    Path status = Path.of("/proc", "" + running().get(0).pid(), "status");
    return 1024 * Files.readAllLines(status).stream().filter(line -> line.startsWith("VmHWM:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElseThrow();
  }

  @Override
  public void close() {
    process.close();
  }
}
