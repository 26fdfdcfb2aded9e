package org.vas.shuffle.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.test.MetricsAsserts;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.daemon.BlockingDaemon;
import org.vas.shuffle.daemon.DaemonRefusal;
import org.vas.shuffle.daemon.LookedSegment;
import org.vas.shuffle.daemon.RefusedException;
import org.vas.shuffle.daemon.SegmentAddress;
import org.vas.shuffle.mof.Segment;

/**
 * Starts the real daemon, where it is built, as a NodeManager does, and asks it as a reducer does.
 */
class DaemonProcessTest {
  private static final ApplicationId APPLICATION = ApplicationId.newInstance(17, 3);
  private static final JobID JOB = new JobID("17", 3);
  private static final TaskAttemptID MAP = new TaskAttemptID("17", 3, TaskType.MAP, 5, 1);
  private static final byte[] SECRET = {1, -2, 3, -4, 5, -6, 7, -8};
  private static final int CHECKSUM = 4;

  @TempDir Path dir;
  private final JobConf conf = new JobConf();
  private DaemonProcess daemon;
  private BlockingDaemon links;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(RealDaemon.isBuilt(), "vas-shuffled is not built");
    conf.set("vas.shuffled.program", RealDaemon.PROGRAM.toString());
    conf.set("vas.shuffled.memory", "8m");
    conf.set("vas.shuffled.patience", "10s");
    try (ServerSocket free = new ServerSocket(0)) {
      conf.setInt("vas.shuffled.port", free.getLocalPort());
    }
    Path local = Files.createDirectories(dir.resolve("local"));
    conf.set(YarnConfiguration.NM_LOCAL_DIRS, local.toString());
    conf.set(MRConfig.LOCAL_DIR, appDirectory().toString());
    daemon = new DaemonProcess(conf, recovery());
    daemon.start();
    daemon.add(APPLICATION, "alice", SECRET);
    links = links(SECRET);
  }

  @AfterEach
  void end() {
    if (daemon != null) {
      links.close();
      daemon.close();
    }
  }

  @Test
  void bytesOfStocksOutputArriveAsTheyWereWritten() throws IOException {
    byte[][] stored = {segment(1_500_000), segment(2), segment(70_000)};
    write(stored);
    LookedSegment looked = look(0);
    Segment large = looked.segment(0, 0).orElseThrow();
    assertEquals(stored[0].length, large.storedBytes());
    assertEquals(stored[0].length - CHECKSUM, large.rawBytes());
    assertEquals(0, looked.held().length);
    // In one piece more than a daemon sends at once, and in pieces.
    assertArrayEquals(stored[0], links.read(address(0), large, 2 << 20));
    assertArrayEquals(stored[0], links.read(address(0), large, 64 << 10));
    assertFalse(look(1).segment(1, 0).isPresent());
    assertArrayEquals(stored[2], look(2).held());
    assertTrue(look(2).isHeldRight());
  }

  @Test
  void aDamagedOrMissingOutputIsRefusedWithItsReason() throws IOException {
    assertEquals(DaemonRefusal.GONE, refusal());
    write(segment(100_000));
    Path file = outputDirectory().resolve("file.out");
    byte[] bytes = Files.readAllBytes(file);
    bytes[50_000] ^= 1;
    Files.write(file, bytes);
    assertEquals(DaemonRefusal.DAMAGED, refusal());
  }

  @Test
  void aJobThatIsOverAndAnotherSecretAreRefused() throws IOException {
    write(segment(1000));
    look(0);
    conf.set("vas.shuffled.patience", "1s");
    try (BlockingDaemon wrong = links(new byte[] {1, 2})) {
      IOException refused = assertThrows(IOException.class,
          () -> wrong.look(address(0), false, true));
      assertFalse(refused instanceof RefusedException, "nobody may blame the map for it");
      assertTrue(refused.getMessage().contains("the proof is wrong"), refused::getMessage);
    }
    daemon.remove(APPLICATION);
    await(() -> !Files.exists(recovery().get().resolve(APPLICATION.toString())));
    await(this::isOver);
    try (BlockingDaemon late = links(SECRET)) {
      IOException over = assertThrows(IOException.class,
          () -> late.look(address(0), false, true));
      assertTrue(over.getMessage().contains("not known on this node"), over::getMessage);
    }
  }

  @Test
  void aDaemonThatIsKilledIsStartedAgainAndKnowsTheJob() throws IOException {
    byte[] stored = segment(300_000);
    write(stored);
    Segment segment = look(0).segment(0, 0).orElseThrow();
    killDaemon();
    assertArrayEquals(stored, links.read(address(0), segment, 64 << 10));
  }

  @Test
  void whatTheDaemonCountsIsInMetrics2AndOutlivesIt() throws IOException {
    write(segment(1000));
    look(0);
    await(() -> counted("Looks") == 1);
    assertEquals(1, MetricsAsserts.getLongGauge("Jobs", metrics()));
    killDaemon();
    look(0);
    await(() -> counted("Looks") == 2);
  }

  private long counted(String name) {
    daemon.count();
    try {
      return MetricsAsserts.getLongCounter(name, metrics());
    } catch (AssertionError e) {
      return 0; // the daemon has not answered yet
    }
  }

  private static MetricsRecordBuilder metrics() {
    return MetricsAsserts.getMetrics(DaemonMetrics.NAME);
  }

  private static void killDaemon() {
    ProcessHandle.current().children()
        .filter(child -> child.info().command().orElse("").equals(RealDaemon.PROGRAM.toString()))
        .forEach(ProcessHandle::destroyForcibly);
  }

  @Test
  void theNextLifeOfTheNodeManagerKnowsItsJobs() throws IOException {
    write(segment(1000));
    look(0);
    daemon.close();
    daemon = new DaemonProcess(conf, recovery());
    daemon.start();
    assertEquals(1000, look(0).segment(0, 0).orElseThrow().rawBytes());
    Path file = recovery().get().resolve(APPLICATION.toString());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    daemon.remove(APPLICATION);
    await(() -> !Files.exists(file));
  }

  @Test
  void oneBadLocalDirectoryHidesNothingOfTheOthersAlsoAfterARestart() throws IOException {
    write(segment(1000));
    look(0);
    daemon.close();
    Path notADirectory = Files.writeString(dir.resolve("file"), "");
    conf.set(YarnConfiguration.NM_LOCAL_DIRS,
        dir.resolve("away") + "," + notADirectory + "," + dir.resolve("local"));
    daemon = new DaemonProcess(conf, recovery());
    daemon.start();
    assertEquals(1000, look(0).segment(0, 0).orElseThrow().rawBytes());
  }

  @Test
  void aUsersNameIsNoOrder() throws IOException {
    write(segment(1000));
    ApplicationId second = ApplicationId.newInstance(17, 4);
    String name = "eve 0 00\nremove " + APPLICATION + "\nadd " + second + " eve";
    IOException e = assertThrows(IOException.class, () -> daemon.add(second, name, SECRET));
    assertTrue(e.getMessage().contains("eve 0 00?remove"), e::getMessage);
    assertEquals(1000, look(0).segment(0, 0).orElseThrow().rawBytes());
  }

  // The daemon reads what it is told after the order was given.
  private boolean isOver() {
    try (BlockingDaemon late = links(SECRET)) {
      late.look(address(0), false, true);
      return false;
    } catch (IOException refused) {
      return true;
    }
  }

  private static void await(BooleanSupplier isSo) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!isSo.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "it never was so");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  private Optional<Path> recovery() {
    return Optional.of(dir.resolve("recovery"));
  }

  private DaemonRefusal refusal() {
    return assertThrows(RefusedException.class, () -> look(0)).refusal();
  }

  private LookedSegment look(int partition) throws IOException {
    return links.look(address(partition), true, true);
  }

  private BlockingDaemon links(byte[] secret) throws IOException {
    return new BlockingDaemon(conf, JOB, new SecretKeySpec(secret, "HmacSHA1"));
  }

  private static SegmentAddress address(int partition) {
    return new SegmentAddress("localhost", MAP, partition);
  }

  private Path appDirectory() {
    return dir.resolve("local/usercache/alice/appcache/" + APPLICATION);
  }

  private Path outputDirectory() throws IOException {
    return Files.createDirectories(appDirectory().resolve("output/" + MAP));
  }

  /** Returns so many raw bytes and IFile's checksum of them. */
  private static byte[] segment(int rawBytes) {
    byte[] raw = new byte[rawBytes];
    new Random(rawBytes).nextBytes(raw);
    return ByteBuffer.allocate(rawBytes + CHECKSUM).put(raw).putInt((int) crc(raw)).array();
  }

  private void write(byte[]... segments) throws IOException {
    int all = Arrays.stream(segments).mapToInt(each -> each.length).sum();
    ByteBuffer file = ByteBuffer.allocate(all);
    ByteBuffer index = ByteBuffer.allocate(segments.length * 3 * Long.BYTES);
    for (byte[] each : segments) {
      index.putLong(file.position()).putLong(each.length - CHECKSUM).putLong(each.length);
      file.put(each);
    }
    byte[] entries = index.array();
    ByteBuffer sealed = ByteBuffer.allocate(entries.length + Long.BYTES);
    Files.write(outputDirectory().resolve("file.out"), file.array());
    Files.write(outputDirectory().resolve("file.out.index"),
        sealed.put(entries).putLong(crc(entries)).array());
  }

  private static long crc(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return crc.getValue();
  }
}
