package org.vas.shuffle.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A NodeManager tells its daemon its jobs, and waits for nothing of it; the daemon is a script. */
@Timeout(120)
class DaemonJobsTest {
  private static final ApplicationId FIRST = ApplicationId.newInstance(17, 1);
  private static final ApplicationId SECOND = ApplicationId.newInstance(17, 2);
  private static final byte[] SECRET = {1, -2};
  private static final TaskUids UIDS = new TaskUids();

  @TempDir Path dir;
  private final Configuration conf = new Configuration(false);
  private DaemonProcess daemon;

  @AfterEach
  void end() {
    if (daemon != null) {
      daemon.close();
    }
  }

  private void start(String script, Optional<Path> recovery, TaskUids uids) throws IOException {
    Path program = Files.writeString(dir.resolve("program"), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    conf.set("vas.shuffled.program", program.toString());
    conf.set(YarnConfiguration.NM_LOCAL_DIRS, dir.toString());
    daemon = new DaemonProcess(conf, recovery, uids);
    daemon.start();
  }

  private String hear() {
    return "exec cat > " + dir.resolve("told");
  }

  private String told() {
    try {
      Path file = dir.resolve("told");
      return Files.exists(file) ? Files.readString(file) : "";
    } catch (IOException e) {
      return "";
    }
  }

  private static void await(BooleanSupplier isSo) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!isSo.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "it never was so");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  private static String line(ApplicationId application) {
    return "add " + application + " alice " + own() + " 01fe\n";
  }

  private static String own() {
    try {
      return String.valueOf(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void jobsAreToldInTheirOrder() throws IOException {
    start(hear(), Optional.empty(), UIDS);
    daemon.add(FIRST, "alice", SECRET);
    daemon.add(SECOND, "alice", SECRET);
    await(() -> told().contains(line(SECOND)));
    daemon.remove(FIRST);
    await(() -> told().endsWith("remove " + FIRST + "\n"));
    assertTrue(told().startsWith(line(FIRST) + line(SECOND)), told());
  }

  /** A recovery directory that cannot be used keeps neither the NodeManager nor the daemon down. */
  @ParameterizedTest
  @ValueSource(strings = {"a-file", "missing/below", "a-file/below"})
  void aBadRecoveryDirectoryIsDoneWithout(String place) throws IOException {
    Files.writeString(dir.resolve("a-file"), "");
    start(hear(), Optional.of(dir.resolve(place)), UIDS);
    daemon.add(FIRST, "alice", SECRET);
    await(() -> told().equals(line(FIRST)));
  }

  @Test
  void secretsAreNotKeptWhereOthersCanRead() throws IOException {
    Path recovery = Files.createDirectory(dir.resolve("recovery"));
    Files.setPosixFilePermissions(recovery, PosixFilePermissions.fromString("rwxr-xr-x"));
    start(hear(), Optional.of(recovery), UIDS);
    daemon.add(FIRST, "alice", SECRET);
    daemon.add(SECOND, "alice", SECRET);
    await(() -> told().endsWith(line(SECOND)));
    try (Stream<Path> files = Files.list(recovery)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void aJobThatCannotBeKeptIsToldAllTheSame() throws IOException {
    Path recovery = dir.resolve("recovery");
    start(hear(), Optional.of(recovery), UIDS);
    Files.delete(recovery);
    daemon.add(FIRST, "alice", SECRET);
    await(() -> told().equals(line(FIRST)));
    daemon.remove(FIRST);
    await(() -> told().endsWith("remove " + FIRST + "\n"));
  }

  @Test
  void whatIsNotAJobsLineIsNotTold() throws IOException {
    Path recovery = Files.createDirectory(dir.resolve("recovery"));
    Files.setPosixFilePermissions(recovery, PosixFilePermissions.fromString("rwx------"));
    Files.writeString(recovery.resolve(FIRST.toString()), line(FIRST).strip());
    Files.writeString(recovery.resolve(SECOND.toString()), line(SECOND) + "remove " + FIRST);
    Files.write(recovery.resolve("application_17_0003"), new byte[] {-1, -2});
    Files.createDirectory(recovery.resolve("application_17_0004"));
    Files.writeString(recovery.resolve("application_17_0005.new"), "add");
    start(hear(), Optional.of(recovery), UIDS);
    await(() -> !told().isEmpty());
    daemon.add(ApplicationId.newInstance(17, 6), "alice", SECRET);
    await(() -> told().contains("application_17_0006"));
    assertEquals(line(FIRST) + line(ApplicationId.newInstance(17, 6)), told());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "..", "a b", "a\nremove application_17_0001", "a\r", "-u", "a/b", "\u00e4"})
  void aUsersNameThatCannotBeOneIsRefused(String user) throws IOException {
    start(hear(), Optional.empty(), UIDS);
    IOException e = assertThrows(IOException.class, () -> daemon.add(FIRST, user, SECRET));
    assertFalse(e.getMessage().contains("\n") || e.getMessage().contains("01fe"), e::getMessage);
    daemon.add(SECOND, "alice", SECRET);
    await(() -> !told().isEmpty());
    assertEquals(line(SECOND), told());
  }

  /** The thread that tells of applications is the NodeManager's: it must not wait. */
  @Test
  void aDirectoryOfUsersThatDoesNotAnswerStopsNobody() throws IOException {
    conf.set(YarnConfiguration.NM_CONTAINER_EXECUTOR,
        "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor");
    conf.setBoolean(YarnConfiguration.NM_NONSECURE_MODE_LIMIT_USERS, false);
    Path id = Files.writeString(dir.resolve("id"),
        "#!/bin/sh\ntest $1 = slow && exec sleep 1000\necho 1234\n");
    Files.setPosixFilePermissions(id, PosixFilePermissions.fromString("rwx------"));
    start(hear(), Optional.empty(), new TaskUids(List.of(id.toString()), Duration.ofSeconds(4)));
    assertTimeout(Duration.ofSeconds(2), () -> {
      daemon.add(FIRST, "slow", SECRET);
      daemon.add(SECOND, "alice", SECRET);
    });
    await(() -> told().contains("add " + SECOND + " alice 1234 01fe\n"));
    assertFalse(told().contains(FIRST.toString()), told());
  }

  @Test
  void aDaemonThatDoesNotListenStopsNobody() throws IOException {
    start("exec sleep 1000", Optional.empty(), UIDS);
    assertTimeout(Duration.ofSeconds(5), () -> {
      for (int number = 1; number <= 3000; number++) {
        daemon.add(ApplicationId.newInstance(17, number), "alice", new byte[100]);
      }
    });
    assertTimeout(Duration.ofSeconds(10), daemon::close);
  }

  @Test
  void theResourceManagersAreTheWitnesses() {
    assertEquals(List.of(), DaemonCommand.witnesses(conf), "0.0.0.0 is nobody");
    conf.set(YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS, "192.0.2.7:8031");
    assertEquals(List.of("192.0.2.7:8031"), DaemonCommand.witnesses(conf));
    conf.setBoolean(YarnConfiguration.RM_HA_ENABLED, true);
    conf.set(YarnConfiguration.RM_HA_IDS, "a,b");
    conf.set(YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS + ".a", "192.0.2.8:8031");
    conf.set(YarnConfiguration.RM_HOSTNAME + ".b", "192.0.2.9");
    conf.set(YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS + ".b", "192.0.2.9:8031");
    assertEquals(List.of("192.0.2.8:8031", "192.0.2.9:8031"), DaemonCommand.witnesses(conf));
  }
}
