package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Under the JVM's own limits a reducer keeps its bound on memory: passes, never an
 * OutOfMemoryError.
 */
@Tag("long")
@Timeout(300)
class MemoryBoundTest {
  private static final int MIB = 1 << 20;

  @TempDir Path dir;
  private int others;

  /** 2,000 segments of 8 KB in 8 MB: 64 KB buffers, were they not as small as the segments. */
  @ParameterizedTest
  @ValueSource(strings = {"Serial", "G1"})
  void moreSegmentsThanFitMeanPasses(String collector) throws Exception {
    write(2000, 8, 1000);
    assertEquals("records=16000 bytes=16000000 passes=true",
        reduce(2000, collector, "48m", 8 * MIB));
  }

  /** Each segment fills both its buffers; all of them fill the budget. */
  @ParameterizedTest
  @ValueSource(strings = {"Serial", "G1"})
  void buffersFillTheBudgetAndNoMore(String collector) throws Exception {
    write(14, 3 * MIB / 1000, 1000);
    assertEquals("records=" + 14 * (3 * MIB / 1000) + " bytes=" + 14L * (3 * MIB / 1000) * 1000
        + " passes=false", reduce(14, collector, "48m", 30 * MIB));
  }

  /** Of the records that wait only the keys are in memory. */
  @ParameterizedTest
  @ValueSource(strings = {"Serial", "G1"})
  void largeRecordsOfManyMapsNeedTheSizeOfOne(String collector) throws Exception {
    write(12, 2, 20 * MIB);
    assertEquals("records=24 bytes=" + 24L * 20 * MIB + " passes=false",
        reduce(12, collector, "128m", 8 * MIB));
  }

  /** Four at a time are looked at: whole, each of these would take 30 MB. */
  @ParameterizedTest
  @ValueSource(strings = {"Serial", "G1"})
  void P1_manifestsOfManyPartitionsAreReadWithinTheBound(String collector) throws Exception {
    others = 39_999;
    write(6, 100, 1000);
    assertEquals("records=600 bytes=600000 passes=false", reduce(6, collector, "48m", 8 * MIB));
  }

  private void write(int maps, int records, int valueBytes) throws IOException {
    ReduceHarness harness = harness(maps);
    harness.job.setNumReduceTasks(1 + others);
    Text value = new Text(new byte[valueBytes]);
    for (int map = 0; map < maps; map++) {
      List<Rec> run = new ArrayList<>();
      for (int i = 0; i < records; i++) {
        run.add(new Rec(new Text(String.format("%05d-%05d", i, map * 7 % maps)), value));
      }
      publish(harness, ReduceHarness.map(map, 0), run);
    }
    if (harness instanceof Closeable) {
      ((Closeable) harness).close();
    }
  }

  /** Returns the name of the medium for the other process. */
  String medium() {
    return "lustre";
  }

  /** Makes a harness that writes for so many maps. */
  ReduceHarness harness(int maps) throws IOException {
    return new ReduceHarness(dir, maps);
  }

  /** Writes a map's output of one run. */
  void publish(ReduceHarness harness, TaskAttemptID attempt, List<Rec> run) throws IOException {
    new MofWriter(harness.job).others(others, 8).segment(0, 0, run).publish(attempt);
  }

  /** Checks that passes of 200 maps left nothing behind. */
  void leftNoPass() throws IOException {
    try (var left = Files.list(dir.resolve("job/shuffle"))) {
      assertEquals(200, left.count(), "only the maps' directories are left");
    }
  }

  /** Hadoop closes the plugin after success only; none of its threads may keep the process. */
  @Test
  void theProcessOfAFailedAttemptEnds() throws Exception {
    write(2, 300, 1000);
    Path mof = dir.resolve("job/shuffle").resolve(ReduceHarness.map(1, 0).toString())
        .resolve("packed.mof");
    byte[] bytes = Files.readAllBytes(mof);
    // Amid it: what is at either end is seen before anything is merged, and waited for.
    bytes[bytes.length / 2] ^= 1;
    Files.write(mof, bytes);
    Process process = start(2, "Serial", "64m", 8 * MIB);
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(1, process.waitFor(), output);
    assertTrue(output.contains(mof.getParent().getFileName() + "/packed.mof"), output);
  }

  /** Hadoop closes nothing after reduce() failed, so the end of the process has to. */
  @Test
  void L2_aProcessWhoseReduceFailsLeavesNoPasses() throws Exception {
    write(200, 8, 1000);
    Process process = start(200, "Serial", "64m", MIB, "fails");
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(1, process.waitFor(), output);
    assertTrue(output.contains("this reduce() fails"), output);
    leftNoPass();
  }

  private String reduce(int maps, String collector, String heap, int budget) throws Exception {
    Process process = start(maps, collector, heap, budget);
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertEquals(0, process.waitFor(), output);
    return output.substring(output.lastIndexOf('\n') + 1);
  }

  private Process start(int maps, String collector, String heap, int budget, String... more)
      throws IOException {
    String classPath = System.getProperty("surefire.test.class.path",
        System.getProperty("java.class.path"));
    List<String> command = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx" + heap,
        "-XX:MaxDirectMemorySize=4m", "-XX:+Use" + collector + "GC",
        "-XX:TieredStopAtLevel=1", "-D" + TightReduce.MEDIUM + "=" + medium(),
        "-cp", classPath, TightReduce.class.getName(),
        dir.toString(), Integer.toString(maps), Integer.toString(budget),
        Integer.toString(1 + others)));
    command.addAll(List.of(more));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }
}
