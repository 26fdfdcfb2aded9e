package org.vas.shuffle.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.test.MetricsAsserts;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.report.NodeReporter;
import org.vas.shuffle.report.ReportSocket;
import org.vas.shuffle.report.TaskReads;

/** Tasks that report their reads to a node over real sockets, end well and badly, and lie. */
@Timeout(60)
class TaskReportsTest {
  @TempDir
  private Path local;

  private NodeMetrics metrics;
  private TaskReports reports;

  @BeforeEach
  void start() throws IOException {
    DefaultMetricsSystem.initialize("NodeManager");
    metrics = NodeMetrics.register();
    reports = TaskReports.open(node(local.toString()), metrics);
  }

  @AfterEach
  void stop() throws IOException {
    reports.close();
    DefaultMetricsSystem.shutdown();
  }

  @Test
  @SuppressWarnings("try")
  void whatATaskReadStaysCountedAfterItsEnd() {
    AtomicReference<TaskReads> now = new AtomicReference<>(TaskReads.of(0, 0, 0, 0, 0, 0));
    try (NodeReporter task = new NodeReporter(job(), now::get).start()) {
      now.set(TaskReads.of(2, 3, 4096, 5, 6, 1));
      await(3, () -> counter("SegmentsOpened"));
      await(2, () -> gauge("OpenSegments"));
      assertEquals(1, tasks());
      now.set(TaskReads.of(1, 4, 5000, 7, 8, 1));
    }
    await(0, this::tasks);
    assertEquals(0, gauge("OpenSegments"));
    assertEquals(4, counter("SegmentsOpened"));
    assertEquals(5000, counter("BytesRead"));
    assertEquals(7, counter("ReadRequests"));
    assertEquals(8, counter("MetadataRequests"));
    assertEquals(1, counter("ValidationFailures"));
  }

  @Test
  void theSumIsOfAllTasks() {
    for (int task = 0; task < 3; task++) {
      new NodeReporter(job(), () -> TaskReads.of(0, 1, 100, 1, 1, 0)).close();
    }
    await(300, () -> counter("BytesRead"));
    assertEquals(3, counter("SegmentsOpened"));
  }

  @Test
  void aTaskThatIsKilledHasNoOpenSegments() throws IOException {
    try (SocketChannel task = ReportSocket.connect(ReportSocket.below(local))) {
      send(task, "7 7 70 7 7 0\n");
      await(7, () -> gauge("OpenSegments"));
    }
    await(0, () -> gauge("OpenSegments"));
    assertEquals(70, counter("BytesRead"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "1 2 3\n", "1 2 3 4 5 6 7\n", "1 1 -1 1 1 1\n", "a b c d e f\n",
      "1 1 9 1 1 1\n1 1 8 1 1 1\n", "1 1 99999999999999999999 1 1 1\n"})
  void whoSendsAnythingElseIsNotHeardAnyMore(String text) throws IOException {
    try (SocketChannel liar = ReportSocket.connect(ReportSocket.below(local))) {
      send(liar, text);
      assertEquals(-1, liar.read(ByteBuffer.allocate(1)), "the node has ended the connection");
    }
    await(0, this::tasks);
    assertEquals(0, gauge("OpenSegments"));
    new NodeReporter(job(), () -> TaskReads.of(0, 0, 100, 1, 0, 0)).close();
    await(text.startsWith("1 1 9 ") ? 109 : 100, () -> counter("BytesRead"));
  }

  @Test
  void aLineWithoutAnEndTakesNoMemory() throws IOException {
    try (SocketChannel liar = ReportSocket.connect(ReportSocket.below(local))) {
      assertThrows(IOException.class, () -> {
        for (int many = 0; many < 100_000; many++) {
          send(liar, "1".repeat(1000));
        }
      });
    }
    await(0, this::tasks);
  }

  @Test
  @SuppressWarnings("try")
  void aNodeManagerThatIsStartedAgainCountsFromWhatItsEarlierLifeHeard() throws IOException {
    long before = 1L << 40;
    AtomicReference<TaskReads> now = new AtomicReference<>(TaskReads.of(1, 1, before, 1, 1, 0));
    try (NodeReporter task = new NodeReporter(job(), now::get).start()) {
      await(before, () -> counter("BytesRead"));
      reports.close();
      metrics = NodeMetrics.register();
      reports = TaskReports.open(node(local.toString()), metrics);
      // A line that is written into the broken connection is lost; those after it are not.
      AtomicLong more = new AtomicLong(before);
      await(2, () -> {
        now.set(TaskReads.of(2, 2, more.incrementAndGet(), 2, 2, 0));
        return gauge("OpenSegments");
      });
      assertTrue(counter("BytesRead") < before, "what was heard is not counted again");
    }
  }

  @Test
  void everyUserMayReportAndNobodyMayTakeTheSocketAway() throws IOException {
    Path socket = ReportSocket.below(local);
    assertEquals("rw-rw-rw-", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)));
    assertEquals("rwxr-xr-x",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(socket.getParent())));
    reports.close();
    assertFalse(Files.exists(socket));
  }

  @Test
  void aSocketThatAnEarlierLifeLeftIsReplacedAndABadDirectoryIsNoMatter() throws IOException {
    reports.close();
    Files.createFile(ReportSocket.below(local));
    reports = TaskReports.open(node("/proc/none,file://" + local), metrics);
    new NodeReporter(job(), () -> TaskReads.of(0, 0, 100, 1, 0, 0)).close();
    await(100, () -> counter("BytesRead"));
    IOException wrong = assertThrows(IOException.class,
        () -> TaskReports.open(node("/proc/none"), metrics));
    assertTrue(wrong.getMessage().startsWith("/proc/none: "), wrong.getMessage());
  }

  /** Nobody accepts, and the queue of connections is full: the thread that reports also reads map output. */
  @Test
  void aNodeManagerThatHangsKeepsNoTaskWaiting() throws IOException {
    Path nodes = Files.createDirectories(local.resolve("hangs"));
    Configuration task = new Configuration(false);
    task.set(MRConfig.LOCAL_DIR, nodes.resolve("usercache/alice/appcache/application_1_0001").toString());
    int taken = 0;
    try (ServerSocketChannel hanging = ReportSocket.listen(ReportSocket.below(nodes))) {
      List<NodeReporter> tasks = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        tasks.add(new NodeReporter(task, () -> TaskReads.of(1, 1, 0, 0, 0, 0)));
        tasks.get(i).report();
      }
      tasks.forEach(NodeReporter::close);
      hanging.configureBlocking(false);
      for (SocketChannel each = hanging.accept(); each != null; each = hanging.accept()) {
        each.close();
        taken++;
      }
    }
    assertTrue(taken > 0 && taken < 200, "tasks that found a place: " + taken);
  }

  @Test
  void aTaskWithoutASocketGoesOn() throws IOException {
    reports.close();
    new NodeReporter(job(), () -> TaskReads.of(0, 0, 100, 1, 0, 0)).close();
    Configuration shallow = new Configuration(false);
    shallow.set(MRConfig.LOCAL_DIR, "/a");
    new NodeReporter(shallow, () -> TaskReads.NONE).close();
  }

  private static Configuration node(String directories) {
    Configuration conf = new Configuration(false);
    conf.set(YarnConfiguration.NM_LOCAL_DIRS, directories);
    return conf;
  }

  private Configuration job() {
    Configuration conf = new Configuration(false);
    conf.set(MRConfig.LOCAL_DIR,
        local.resolve("usercache/ann/appcache/application_1_0001").toString());
    return conf;
  }

  private static void send(SocketChannel task, String text) throws IOException {
    task.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
  }

  private static void await(long wanted, LongSupplier found) {
    long ends = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    long last = found.getAsLong();
    while (last != wanted && System.nanoTime() < ends) {
      Thread.onSpinWait();
      last = found.getAsLong();
    }
    assertEquals(wanted, last);
  }

  private long counter(String name) {
    return MetricsAsserts.getLongCounter(name, MetricsAsserts.getMetrics(metrics));
  }

  private long gauge(String name) {
    return MetricsAsserts.getLongGauge(name, MetricsAsserts.getMetrics(metrics));
  }

  private long tasks() {
    return MetricsAsserts.getIntGauge("ReduceTasks", MetricsAsserts.getMetrics(metrics));
  }
}
