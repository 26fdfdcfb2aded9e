package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.mof.ShuffleDirs;

/** A map whose output is not whole does not publish it, whoever fails and whoever hides it. */
class MapFaultTest {
  @TempDir
  Path directory;
  private JobConf job;

  @BeforeEach
  void makeJob() throws IOException {
    job = MapRun.job(directory);
    job.setNumReduceTasks(2);
    job.set("vas.shuffle.layout", "packed");
  }

  @AfterEach
  void heal() {
    SharedFileSystem.heal();
  }

  @ParameterizedTest
  @CsvSource({"new", "old"})
  void withoutFaultsItPublishes(String api) throws Exception {
    use(api);
    MapRun.of(job, MapFaultTest::some);
    assertTrue(isPublished());
  }

  static Stream<Arguments> operations() {
    return Stream.of(
        operations("packed.mof", "create", "write", "hsync", "close"),
        operations("manifest.tmp", "create", "write", "hsync", "close", "rename"))
        .flatMap(all -> all);
  }

  private static Stream<Arguments> operations(String file, String... points) {
    return Stream.of(points).flatMap(point -> Stream.concat(
        Stream.of(Arguments.of(point, file, "Input/output error", "old")),
        Stream.of("No space left on device", "Disk quota exceeded", "Input/output error",
            "Stale file handle").map(errno -> Arguments.of(point, file, errno, "new"))));
  }

  @ParameterizedTest
  @MethodSource("operations")
  void aFailedOperationIsTheTasksFailure(String point, String file, String errno, String api)
      throws Exception {
    use(api);
    job.setBoolean("vas.shuffle.sync-data", true);
    failAt(point, file, errno);
    IOException e = assertThrows(IOException.class, () -> MapRun.of(job, MapFaultTest::some));
    String path = MapRun.directory(job) + "/" + file;
    assertTrue(e.getMessage().contains(path) && e.getMessage().contains(errno), e::getMessage);
    assertFalse(isPublished());
  }

  /** A merge of runs fails like any writing, and its threads close every file. */
  @ParameterizedTest
  @CsvSource({"create, packed-2.mof", "write, packed-2.mof", "close, packed-2.mof",
      "delete, packed.mof", "read, packed.mof"})
  void aFailedMergeOfRunsIsTheTasksFailure(String point, String file) throws Exception {
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    job.setInt("vas.shuffle.max-runs", 1);
    failAt(point, file, "Input/output error");
    IOException e = assertThrows(IOException.class, () -> MapRun.of(job, MapFaultTest::many));
    assertTrue(e.getMessage().contains(file) && e.getMessage().contains("Input/output error"),
        e::getMessage);
    assertFalse(isPublished());
    // A task that fails does not wait for a read that runs: the thread of the read closes the file.
    SharedFileSystem.awaitNoOpenStream();
  }

  @Test
  void syncsDataIfAskedTo() throws Exception {
    failAt("hsync", "packed.mof", "Input/output error");
    MapRun.of(job, MapFaultTest::some);
    assertTrue(isPublished());

    job = MapRun.job(directory.resolve("synced"));
    job.set("vas.shuffle.layout", "packed");
    job.setBoolean("vas.shuffle.sync-data", true);
    assertThrows(IOException.class, () -> MapRun.of(job, MapFaultTest::some));
    assertFalse(isPublished());
  }

  /** The disk is full once; the mapper goes on as if nothing had been. */
  @ParameterizedTest
  @CsvSource({"new", "old"})
  void aMapperThatHidesAFailureDoesNotPublish(String api) throws Exception {
    use(api);
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    boolean[] failed = {false};
    SharedFileSystem.inject((point, path) -> {
      if (point.equals("write") && !failed[0]) {
        failed[0] = true;
        throw new IOException("No space left on device");
      }
    });
    IOException e = assertThrows(IOException.class, () -> MapRun.of(job, output -> {
      for (int i = 0; i < 100_000; i++) {
        try {
          output.emit(new Text("word" + i), new IntWritable(i));
        } catch (IOException hidden) {
          assertTrue(failed[0]);
        }
      }
    }));
    assertEquals("map output is not complete, and not published, since: shared:"
        + MapRun.directory(job) + "/packed.mof: write: No space left on device", e.getMessage());
    assertFalse(isPublished());
  }

  @Test
  void aRecordThatCannotBeSerialisedLeavesNoTrace() throws Exception {
    job.setMapOutputValueClass(Fragile.class);
    MapRun.of(job, output -> {
      output.emit(new Text("a"), new Fragile(false));
      assertThrows(IOException.class, () -> output.emit(new Text("b"), new Fragile(true)));
      output.emit(new Text("c"), new Fragile(false));
    });
    assertEquals(2, WrittenOutput.manifest(job).segments().stream()
        .mapToLong(segment -> segment.records()).sum());
    int read = 0;
    for (int partition = 0; partition < 2; partition++) {
      read += WrittenOutput.records(job, WrittenOutput.manifest(job), partition).size();
    }
    assertEquals(2, read);
  }

  @Test
  void wrongClassesAreRefused() {
    assertMessage("Type mismatch in key from map: expected org.apache.hadoop.io.Text, received"
        + " org.apache.hadoop.io.IntWritable", output -> output.emit(new IntWritable(), null));
  }

  @Test
  void partitionsThatAreNoneAreRefused() {
    job.setClass(MRJobConfig.PARTITIONER_CLASS_ATTR, Outside.class,
        org.apache.hadoop.mapreduce.Partitioner.class);
    assertMessage("Illegal partition for a (2)",
        output -> output.emit(new Text("a"), new IntWritable()));
  }

  @Test
  void twoAttemptsNeverShareADirectory() throws Exception {
    MapRun.of(job, MapFaultTest::some);
    byte[] first = Files.readAllBytes(MapRun.directory(job).resolve(ShuffleDirs.MANIFEST));
    assertThrows(IOException.class, () -> MapRun.of(job, output -> {}));
    assertThrows(IOException.class, () -> MapRun.of(job, MapFaultTest::some));
    assertEquals(first.length,
        Files.size(MapRun.directory(job).resolve(ShuffleDirs.MANIFEST)));
  }

  private void assertMessage(String message, Emitter.Script script) {
    IOException e = assertThrows(IOException.class, () -> MapRun.of(job, script));
    assertEquals(message, e.getMessage());
  }

  private void use(String api) {
    if (api.equals("old")) {
      MapRun.useOldApi(job);
    }
  }

  private boolean isPublished() throws IOException {
    return Files.exists(MapRun.directory(job).resolve(ShuffleDirs.MANIFEST));
  }

  private static void failAt(String point, String file, String errno) {
    SharedFileSystem.inject((at, path) -> {
      if (at.equals(point) && path.getName().equals(file)) {
        throw new IOException(errno);
      }
    });
  }

  private static void some(Emitter.Output output) throws IOException {
    emit(output, 1_000);
  }

  private static void many(Emitter.Output output) throws IOException {
    emit(output, 60_000);
  }

  private static void emit(Emitter.Output output, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      output.emit(new Text("word" + i), new IntWritable(i));
    }
  }

  /** A value that fails in the midst of being written. */
  public static final class Fragile implements org.apache.hadoop.io.Writable {
    private final boolean broken;

    Fragile(boolean broken) {
      this.broken = broken;
    }

    @Override
    public void write(java.io.DataOutput out) throws IOException {
      out.writeLong(1);
      if (broken) {
        throw new IOException("cannot be written");
      }
    }

    @Override
    public void readFields(java.io.DataInput in) {}
  }

  /** Sends every record to a partition that does not exist. */
  public static final class Outside
      extends org.apache.hadoop.mapreduce.Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return partitions;
    }
  }
}
