package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.mof.BadOutputException;
import org.vas.shuffle.mof.CallWatch;
import org.vas.shuffle.mof.JobFormat;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.ManifestFormat;
import org.vas.shuffle.mof.ManifestReader;
import org.vas.shuffle.mof.ManifestTooLargeException;
import org.vas.shuffle.mof.ManifestV1Bytes;
import org.vas.shuffle.mof.MofFile;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.ShuffleDirs;

/** Runs reducers over manifests of both versions: counts what they read, and what they ask for. */
@Timeout(120)
class ManifestVersionsTest {
  private static final int MAPS = 8;

  @TempDir Path dir;

  @AfterEach
  void heal() {
    SharedFileSystem.heal();
  }

  /** Maps that ran on machines that were upgraded already, and others; in a retry as well. */
  @ParameterizedTest
  @CsvSource({"1, 0", "1, 1", "20, 0", "200, 0", "200, 1"})
  void P1_bothVersionsInOneJob(int reducers, int attempt) throws Exception {
    ReduceHarness harness = new ReduceHarness(dir, MAPS);
    harness.job.setNumReduceTasks(reducers);
    for (int map = 0; map < MAPS; map++) {
      List<List<Rec>> runs = List.of(Rec.random(new Random(map), 100),
          Rec.random(new Random(100 + map), 4_000));
      harness.map(map, runs);
      if (map % 2 == 0) {
        rewriteAsVersion1(harness.file(ReduceHarness.map(map, 0), "manifest"));
      }
    }
    harness.checkAttempt(attempt);
    assertEquals(0, harness.counter("VALIDATION_FAILURES"));
  }

  private static void rewriteAsVersion1(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    assertEquals(2, bytes[4]);
    Files.write(file, ManifestV1Bytes.encode(ManifestFormat.decode(bytes)));
    assertEquals(1, Files.readAllBytes(file)[4]);
  }

  /** 8 maps, 200 reducers, 16 runs: bytes of manifests that one reducer reads, and its opens. */
  @Test
  void P1_aReducerOpensEachManifestOnceAndReadsItsPart() throws Exception {
    long first = manifestBytes(true);
    long second = manifestBytes(false);
    assertTrue(second * 20 < first, () -> second + " bytes, in version 1 " + first);
    assertTrue(second < MAPS * 700, () -> second + " bytes");
  }

  private long manifestBytes(boolean version1) throws Exception {
    ReduceHarness harness = new ReduceHarness(dir.resolve("v" + version1), MAPS);
    harness.job.setNumReduceTasks(200);
    for (int map = 0; map < MAPS; map++) {
      MofWriter writer = new MofWriter(harness.job).others(199, 16);
      for (int run = 0; run < 16; run++) {
        writer.segment(0, run, List.of(new Rec(new Text("key"),
            new Text("value"))));
      }
      (version1 ? writer.version1() : writer).publish(ReduceHarness.map(map, 0));
      harness.umbilical.event(ReduceHarness.map(map, 0), Status.SUCCEEDED);
    }
    AtomicInteger opens = new AtomicInteger();
    SharedFileSystem.heal();
    SharedFileSystem.inject((call, path) -> {
      boolean manifest = path.getName().equals("manifest");
      opens.addAndGet(manifest && call.equals("open") ? 1 : 0);
    });
    harness.run();
    assertEquals(MAPS, opens.get(), "opens of manifests");
    return SharedFileSystem.BYTES_READ.get() - harness.counter("MOF_BYTES_READ");
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 100})
  void P1_aManifestOfAnotherNumberOfPartitionsIsRefused(int reducers) throws Exception {
    ReduceHarness harness = new ReduceHarness(dir, 1);
    harness.job.setNumReduceTasks(reducers);
    harness.map(0, List.of(Rec.random(new Random(1), 10)));
    harness.job.setNumReduceTasks(reducers + 1);
    ShuffleDirs dirs = new ShuffleDirs(harness.job);
    ManifestReader reader = new ManifestReader(dirs.root().getFileSystem(harness.job), dirs,
        JobFormat.of(harness.job), 1 << 20);
    String message = assertThrows(BadOutputException.class,
        () -> reader.segments(ReduceHarness.map(0, 0), 0, CallWatch.NONE)).getMessage();
    assertTrue(message.endsWith("has " + reducers + " partitions, the job has " + (reducers + 1))
        || message.endsWith("no block at " + (8 + 32 * (reducers + 1)) + " of 0 bytes"), message);
  }

  /** Not the map's fault, and nothing to run again: the reducer says what it needs. */
  @Test
  void P1_aPartThatDoesNotFitTheMemoryBlamesNoMap() throws Exception {
    ReduceHarness harness = new ReduceHarness(dir, 1);
    harness.job.setNumReduceTasks(40);
    TaskAttemptID attempt = ReduceHarness.map(0, 0);
    harness.publish(attempt, List.of());
    long stored = 8L << 30;
    Files.write(harness.file(attempt, "manifest"), ManifestFormat.encode(
        Manifest.of(attempt.toString()).partitions(40).runs(1)
            .files(List.of(new MofFile("packed.mof", stored)))
            .segments(List.of(new Segment(0, 0, 0, 0, stored, stored - 4, 1,
                new int[(int) Segment.checksumsOf(stored)])))
            .build()));
    OutputFinding small = look(harness, attempt, 1 << 20);
    assertEquals(OutputDiagnosis.SICK_FILE_SYSTEM, small.diagnosis());
    assertInstanceOf(ManifestTooLargeException.class, small.error());
    String message = small.error().getMessage();
    assertTrue(message.contains("manifest: partition 0: ") && message.contains("memory.mb"),
        message);
    OutputFinding large = look(harness, attempt, 4 << 20);
    assertEquals(OutputDiagnosis.BAD_MAP, large.diagnosis(), "its MOF is missing");
    assertNotNull(large.error());
  }

  private static OutputFinding look(ReduceHarness harness, TaskAttemptID attempt, long toLook)
      throws IOException {
    ShuffleDirs dirs = new ShuffleDirs(harness.job);
    FileSystem fs = dirs.root().getFileSystem(harness.job);
    return new Validator(fs, dirs, JobFormat.of(harness.job), 0, 0, 0, toLook, ReadMeter.NONE)
        .look(attempt, CallWatch.NONE);
  }
}
