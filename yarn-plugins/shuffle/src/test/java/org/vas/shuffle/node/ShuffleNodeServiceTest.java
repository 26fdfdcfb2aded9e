package org.vas.shuffle.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.test.MetricsAsserts;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.ContainerInitializationContext;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.SimpleLayout;
import org.apache.log4j.WriterAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.filesystem.TreeRemover;

/** Calls the service as a NodeManager does, next to a real ResourceManager and real directories. */
@Timeout(60)
class ShuffleNodeServiceTest {
  @TempDir
  private Path staging;

  private MockRM rm;
  private ShuffleNodeService service;

  /** Asks the ResourceManager of this JVM. */
  private static class InProcess extends Applications {
    private final MockRM rm;

    InProcess(MockRM rm) {
      this.rm = rm;
    }

    @Override
    ApplicationClientProtocol connect(Configuration conf) {
      return rm.getClientRMService();
    }

    @Override
    public void close() {}
  }

  @BeforeEach
  void start() {
    Configuration conf = new YarnConfiguration();
    conf.set("yarn.app.mapreduce.am.staging-dir", "file://" + staging);
    rm = new MockRM(conf);
    rm.start();
    DefaultMetricsSystem.initialize("NodeManager");
    service = new ShuffleNodeService(new InProcess(rm));
    service.init(conf);
    service.start();
  }

  @AfterEach
  void stop() {
    service.stop();
    rm.stop();
    DefaultMetricsSystem.shutdown();
  }

  @Test
  void removesWhatAnApplicationThatIsOverLeft() throws Exception {
    ApplicationId application = over();
    Path job = mapOutput(application, "alice");
    ended(application, "alice");
    assertTrue(isEmpty(job.resolve("shuffle")), "the mark by which the janitor knows the rest");
    assertTrue(Files.exists(job.resolve("job.xml")), "the janitor's");
    assertEquals(1L, metric("ApplicationsCleaned"));
    assertEquals(2L, metric("FilesRemoved"));
    assertEquals(9L, metric("BytesRemoved"));
    assertEquals(0L, metric("Failures"));
    assertFalse(ManagementFactory.getPlatformMBeanServer()
        .queryNames(new ObjectName("Hadoop:name=VasShuffle,*"), null).isEmpty());
  }

  @Test
  void aNodeThatShutsDownTouchesNothingOfALiveApplication() throws Exception {
    ApplicationId application = submit().getApplicationId();
    Path job = mapOutput(application, "alice");
    ended(application, "alice");
    assertTrue(Files.exists(job.resolve("shuffle/attempt_m_0/packed.mof")));
    assertEquals(1L, metric("ApplicationsUndecided"));
  }

  @Test
  void anApplicationTheResourceManagerDoesNotKnowIsLeftAlone() throws Exception {
    ApplicationId application = ApplicationId.newInstance(17, 1);
    Path job = mapOutput(application, "alice");
    ended(application, "alice");
    assertTrue(Files.exists(job.resolve("shuffle/attempt_m_0/packed.mof")));
    assertEquals(1L, metric("ApplicationsUndecided"));
  }

  @Test
  void nothingLeftIsNoFailure() throws Exception {
    ended(over(), "alice");
    assertEquals(1L, metric("Applications"));
    assertEquals(0L, metric("ApplicationsCleaned"));
    assertEquals(0L, metric("Failures"));
  }

  @Test
  void linksAreRemovedAndNeverFollowed() throws Exception {
    ApplicationId application = over();
    Path job = mapOutput(application, "alice");
    Path elsewhere = Files.createDirectory(staging.resolve("elsewhere"));
    Path precious = Files.writeString(elsewhere.resolve("precious"), "x");
    Files.createSymbolicLink(job.resolve("shuffle/attempt_m_0/dir"), elsewhere);
    Files.createSymbolicLink(job.resolve("shuffle/attempt_m_0/file"), precious);
    ended(application, "alice");
    assertTrue(isEmpty(job.resolve("shuffle")));
    assertTrue(Files.exists(precious));
  }

  @Test
  void aLinkInPlaceOfADirectoryIsNotEntered() throws Exception {
    ApplicationId application = over();
    Path real = mapOutput(application, "bob");
    Path staged = Files.createDirectories(staging.resolve("alice/.staging"));
    Files.createSymbolicLink(staged.resolve(real.getFileName()), real);
    ended(application, "alice");
    assertTrue(Files.exists(real.resolve("shuffle/attempt_m_0/packed.mof")));
    assertEquals(1L, metric("Failures"));
  }

  /** As the janitor reads it: root runs this test, and gives files to a user of another id. */
  @Test
  void S5_whatIsAStrangersStaysAndIsNamedInOneWarning() throws Exception {
    ApplicationId application = over();
    Path shuffle = mapOutput(application, "alice").resolve("shuffle");
    Path file = Files.writeString(shuffle.resolve("attempt_m_0/precious"), "x");
    Path below = Files.writeString(
        Files.createDirectories(shuffle.resolve("attempt_m_0/theirs")).resolve("deep"), "x");
    Path own = Files.writeString(
        Files.createDirectories(shuffle.resolve("attempt_m_1")).resolve("packed.mof"), "x");
    giveToAStranger(file);
    giveToAStranger(below.getParent());
    String said = said(() -> ended(application, "alice"));
    assertTrue(Files.exists(file) && Files.exists(below), "a stranger's");
    assertFalse(Files.exists(own.getParent()));
    assertFalse(Files.exists(shuffle.resolve("attempt_m_0/packed.mof")));
    assertEquals(1, said.lines().count(), said);
    assertTrue(said.contains("attempt_m_0/") && said.contains("12345"), said);
    assertEquals(1L, metric("Failures"));
    assertEquals(3L, metric("FilesRemoved"));
  }

  @Test
  void S5_anApplicationWhoseDirectoryIsAStrangersIsLeftAlone() throws Exception {
    ApplicationId application = over();
    Path job = mapOutput(application, "alice");
    for (Path each : new Path[] {job, job.resolve("shuffle")}) {
      giveToAStranger(each);
    }
    String said = said(() -> ended(application, "alice"));
    assertTrue(Files.exists(job.resolve("shuffle/attempt_m_0/packed.mof")));
    assertTrue(said.contains("12345"), said);
  }

  @Test
  void S5_aStagingDirectoryThatOthersMayWriteIntoIsLeftAlone() throws Exception {
    ApplicationId application = over();
    Path job = mapOutput(application, "alice");
    Files.setPosixFilePermissions(job.getParent(), PosixFilePermissions.fromString("rwxrwx---"));
    String said = said(() -> ended(application, "alice"));
    assertTrue(Files.exists(job.resolve("shuffle/attempt_m_0/packed.mof")));
    assertTrue(said.contains("chmod 700"), said);
  }

  @Test
  void S5_aTreeOfAnyDepthCrashesNothingAndTheRestGoes() throws Exception {
    ApplicationId application = over();
    Path shuffle = mapOutput(application, "alice").resolve("shuffle");
    Path deep = shuffle.resolve("attempt_m_1");
    for (int level = 0; level < 400; level++) {
      deep = deep.resolve("d");
    }
    Files.createDirectories(deep);
    Path beside = Files.writeString(shuffle.resolve("attempt_m_1/packed.mof"), "x");
    String said = said(() -> ended(application, "alice"));
    assertTrue(Files.exists(deep));
    assertFalse(Files.exists(beside));
    assertFalse(Files.exists(shuffle.resolve("attempt_m_0")));
    assertEquals(1, said.lines().count(), said);
    assertTrue(said.contains("deeper than 256") && said.length() < 500, said);
  }

  /** The NodeManager halts on an Error that leaves a thread, and the thread of this service would end. */
  @Test
  void S5_anErrorIsLoggedAndTheNextApplicationIsCleaned() throws Exception {
    ApplicationId first = over();
    ApplicationId second = over();
    Path job = mapOutput(second, "alice");
    ShuffleNodeService fails = new ShuffleNodeService(new InProcess(rm) {
      private boolean failedBefore;

      @Override
      boolean isOver(ApplicationId application, Configuration conf) {
        if (!failedBefore) {
          failedBefore = true;
          throw new OutOfMemoryError("planted");
        }
        return super.isOver(application, conf);
      }
    });
    List<Throwable> left = new CopyOnWriteArrayList<>();
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, error) -> left.add(error));
    service.stop();
    Configuration conf = service.getConfig();
    service = fails;
    service.init(conf);
    service.start();
    String said;
    try {
      said = said(() -> {
        stopped(first, "alice");
        ended(second, "alice");
      });
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
    assertEquals(List.of(), left);
    assertTrue(said.contains(first + ": its map output") && said.contains("OutOfMemoryError: planted"), said);
    assertTrue(isEmpty(job.resolve("shuffle")));
    assertEquals(1L, metric("Failures"));
  }

  /** A task that was killed too late still writes: it is cleared again, but not for ever. */
  @ParameterizedTest
  @CsvSource({"4, true", "5, false"})
  void aDirectoryThatGrowsIsEmptiedAFewTimes(int growths, boolean succeeds) throws Exception {
    Path attempt = mapOutput(ApplicationId.newInstance(17, 1), "alice")
        .resolve("shuffle/attempt_m_0");
    int[] grown = {0};
    TreeRemover remover = new TreeRemover(16) {
      @Override
      protected void emptied(Path directory) throws IOException {
        if (grown[0] < growths) {
          Files.createFile(attempt.resolve("late" + grown[0]++));
        }
      }
    };
    List<String> names = StagingRoot.shuffleOf(ApplicationId.newInstance(17, 1), "alice");
    if (succeeds) {
      remover.empty(staging, names);
      assertEquals(2 + growths, remover.files());
    } else {
      assertThrows(IOException.class, () -> remover.empty(staging, names));
    }
    assertEquals(!succeeds, Files.exists(attempt));
  }

  @Test
  void saysSoOnceWhenItStarts() {
    String said = said(() -> new ShuffleNodeService(new InProcess(rm)).init(service.getConfig()));
    assertTrue(said.startsWith("WARN - yarn.nodemanager.container-executor.class is "), said);
    assertEquals(1, said.lines().count(), said);
  }

  @Test
  void aUserIsOneName() throws Exception {
    ApplicationId application = over();
    Path job = mapOutput(application, "bob");
    ended(application, "../" + staging.getFileName() + "/bob");
    assertTrue(Files.exists(job.resolve("shuffle")));
    assertEquals(1L, metric("Failures"));
  }

  private void giveToAStranger(Path file) throws IOException {
    assumeTrue(Files.getAttribute(staging, "unix:uid").equals(0), "run as root: files are given away");
    Files.setAttribute(file, "unix:uid", 12345);
  }

  /** Returns what the service warns of while something runs. */
  private static String said(Runnable call) {
    StringWriter log = new StringWriter();
    WriterAppender appender = new WriterAppender(new SimpleLayout(), log);
    Logger logger = Logger.getLogger(ShuffleNodeService.class);
    Level threshold = logger.getLoggerRepository().getThreshold();
    logger.getLoggerRepository().setThreshold(Level.WARN);
    logger.addAppender(appender);
    try {
      call.run();
    } finally {
      logger.removeAppender(appender);
      logger.getLoggerRepository().setThreshold(threshold);
    }
    return log.toString();
  }

  private static boolean isEmpty(Path directory) throws IOException {
    try (var entries = Files.list(directory)) {
      return entries.findAny().isEmpty();
    }
  }

  private Path mapOutput(ApplicationId application, String user) throws IOException {
    Path job = staging.resolve(user).resolve(".staging")
        .resolve(application.toString().replace("application", "job"));
    Path attempt = Files.createDirectories(job.resolve("shuffle/attempt_m_0"));
    Files.writeString(attempt.resolve("packed.mof"), "12345678");
    Files.writeString(attempt.resolve("manifest"), "9");
    Files.writeString(job.resolve("job.xml"), "<configuration/>");
    return job;
  }

  /** What a NodeManager tells its services, and the end of their work. */
  private void ended(ApplicationId application, String user) {
    stopped(application, user);
    service.stop();
  }

  private void stopped(ApplicationId application, String user) {
    ContainerId container =
        ContainerId.newContainerId(ApplicationAttemptId.newInstance(application, 1), 2);
    service.initializeContainer(new ContainerInitializationContext(user, container, null));
    service.stopApplication(new ApplicationTerminationContext(application));
  }

  private ApplicationId over() throws Exception {
    RMApp application = submit();
    rm.killApp(application.getApplicationId());
    rm.waitForState(application.getApplicationId(), RMAppState.KILLED);
    return application.getApplicationId();
  }

  private RMApp submit() throws Exception {
    return MockRMAppSubmitter.submit(rm,
        MockRMAppSubmissionData.Builder.createWithMemory(1024, rm).build());
  }

  private static long metric(String name) {
    return MetricsAsserts.getLongCounter(name, MetricsAsserts.getMetrics(NodeMetrics.NAME));
  }
}
