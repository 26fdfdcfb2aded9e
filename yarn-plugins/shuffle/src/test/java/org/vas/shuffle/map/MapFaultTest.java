package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

  @ParameterizedTest
  @CsvSource({
    "new, create, packed.mof", "new, write, packed.mof", "new, close, packed.mof",
    "new, create, manifest.tmp", "new, write, manifest.tmp", "new, hsync, manifest.tmp",
    "new, close, manifest.tmp", "new, rename, manifest.tmp",
    "old, write, packed.mof", "old, close, packed.mof", "old, rename, manifest.tmp"})
  void aFailedOperationIsTheTasksFailure(String api, String point, String file) throws Exception {
    use(api);
    failAt(point, file);
    IOException e = assertThrows(IOException.class, () -> MapRun.of(job, MapFaultTest::some));
    assertEquals("No space left on device", e.getMessage());
    assertFalse(isPublished());
  }

  @Test
  void syncsDataIfAskedTo() throws Exception {
    failAt("hsync", "packed.mof");
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
    assertEquals("map output is not complete, and not published, since:"
        + " No space left on device", e.getMessage());
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

  private static void failAt(String point, String file) {
    SharedFileSystem.inject((at, path) -> {
      if (at.equals(point) && path.getName().equals(file)) {
        throw new IOException("No space left on device");
      }
    });
  }

  private static void some(Emitter.Output output) throws IOException {
    for (int i = 0; i < 10_000; i++) {
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

  /** Sends everything where nothing is. */
  public static final class Outside
      extends org.apache.hadoop.mapreduce.Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return partitions;
    }
  }
}
