package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MROutputFiles;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.shuffle.map.WrittenOutput.Record;

/**
 * LocalCollector writes what stock's collector writes, so that readers of stock's output read it.
 */
class LocalCollectorTest {
  private static final List<TaskCounter> COUNTERS = List.of(TaskCounter.MAP_OUTPUT_RECORDS,
      TaskCounter.MAP_OUTPUT_BYTES, TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES,
      TaskCounter.SPILLED_RECORDS, TaskCounter.COMBINE_INPUT_RECORDS,
      TaskCounter.COMBINE_OUTPUT_RECORDS);

  @TempDir
  Path directory;
  private JobConf job;

  @BeforeEach
  void makeJob() throws IOException {
    job = MapRun.job(directory);
    local(job);
  }

  private static void local(JobConf job) {
    job.set("mapreduce.job.map.output.collector.class", LocalCollector.class.getName());
    job.unset(MRConfig.SHUFFLE_CONSUMER_PLUGIN);
  }

  private static void words(Emitter.Output output) throws IOException {
    for (int i = 0; i < 5_000; i++) {
      output.emit(new Text("word" + i % 17), new IntWritable(i));
    }
  }

  private static void numbers(Emitter.Output output) throws IOException {
    for (int i = 0; i < 200_000; i++) {
      output.emit(new Text("number" + Integer.reverse(i)), new IntWritable(i));
    }
  }

  private static List<IndexRecord> index(MapRun run, int partitions) throws IOException {
    MROutputFiles files = new MROutputFiles();
    files.setConf(run.job());
    SpillRecord index = new SpillRecord(files.getOutputIndexFile(), run.job());
    assertEquals(partitions, index.size());
    List<IndexRecord> found = new ArrayList<>();
    for (int partition = 0; partition < partitions; partition++) {
      found.add(index.getIndex(partition));
    }
    return found;
  }

  /** Stock keeps equal keys in no order. */
  private static List<String> inAnyOrder(List<Record> records) {
    return records.stream().map(Record::toString).sorted().collect(Collectors.toList());
  }

  private static void assertSameCounters(MapRun stock, MapRun ours) {
    for (TaskCounter counter : COUNTERS) {
      assertEquals(stock.counter(counter), ours.counter(counter), counter::name);
    }
  }

  @ParameterizedTest
  @CsvSource({"none, plain, 1", "none, plain, 40", "gzip, plain, 40", "default, plain, 3",
      "bzip2, plain, 3", "none, encrypted, 40", "gzip, encrypted, 40"})
  void recordsSizesAndCountersAreStocks(String codec, String encryption, int partitions)
      throws Exception {
    MapRun.compress(job, codec);
    job.setBoolean(MRJobConfig.MAP_OUTPUT_COMPRESS, !codec.equals("none"));
    if (encryption.equals("encrypted")) {
      MapRun.encrypt(job);
    }
    job.setNumReduceTasks(partitions);
    MapRun ours = MapRun.of(job, LocalCollectorTest::words);
    List<IndexRecord> found = index(ours, partitions);
    List<List<Record>> records = new ArrayList<>();
    for (int partition = 0; partition < partitions; partition++) {
      records.add(WrittenOutput.stock(ours.job(), partition));
    }
    byte[] bytes = WrittenOutput.stockBytes(ours.job());
    MapRun stock = MapRun.stock(job, LocalCollectorTest::words);
    List<IndexRecord> expected = index(stock, partitions);
    for (int partition = 0; partition < partitions; partition++) {
      List<Record> ofPartition = records.get(partition);
      assertTrue(WrittenOutput.sorted(job, ofPartition).equals(ofPartition), "not in order");
      assertTrue(inAnyOrder(WrittenOutput.stock(stock.job(), partition))
          .equals(inAnyOrder(ofPartition)), "other records");
      assertEquals(expected.get(partition).rawLength, found.get(partition).rawLength);
      if (codec.equals("none")) {
        assertEquals(expected.get(partition).partLength, found.get(partition).partLength);
      }
    }
    if (codec.equals("none")) {
      assertSameCounters(stock, ours);
    }
    if (partitions == 1 && codec.equals("none") && encryption.equals("plain")) {
      assertEquals(WrittenOutput.stockBytes(stock.job()).length, bytes.length);
    }
  }

  /** Of keys without equals there is one order: then the file is stock's, byte for byte. */
  @ParameterizedTest
  @CsvSource({"16", "1"})
  void theFileOfDistinctKeysIsStocks(int sortMb) throws Exception {
    job.setInt(MRJobConfig.IO_SORT_MB, sortMb);
    job.setNumReduceTasks(3);
    MapRun ours = MapRun.of(job, LocalCollectorTest::numbers);
    byte[] bytes = WrittenOutput.stockBytes(ours.job());
    assertEquals(List.of("file.out", "file.out.index"), names(directory.resolve("local")));
    MapRun stock = MapRun.stock(job, LocalCollectorTest::numbers);
    assertArrayEquals(WrittenOutput.stockBytes(stock.job()), bytes);
    assertEquals(stock.counter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES),
        ours.counter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES));
  }

  @Test
  void aMapWithoutRecordsWritesEmptySegments() throws Exception {
    job.setNumReduceTasks(4);
    MapRun ours = MapRun.of(job, output -> {});
    byte[] bytes = WrittenOutput.stockBytes(ours.job());
    MapRun stock = MapRun.stock(job, output -> {});
    assertArrayEquals(WrittenOutput.stockBytes(stock.job()), bytes);
    assertSameCounters(stock, ours);
  }

  @Test
  void theCombinerRunsAsInStock() throws Exception {
    job.setClass(MRJobConfig.COMBINE_CLASS_ATTR, IntSumReducer.class,
        org.apache.hadoop.mapreduce.Reducer.class);
    job.setNumReduceTasks(40);
    MapRun ours = MapRun.of(job, LocalCollectorTest::words);
    List<Record> of7 = WrittenOutput.stock(ours.job(), 7);
    MapRun stock = MapRun.stock(job, LocalCollectorTest::words);
    assertEquals(WrittenOutput.stock(stock.job(), 7), of7);
    assertSameCounters(stock, ours);
  }

  /** By the names that tasks have in YARN. */
  @Test
  void disksAreUsedInTurnAndTheGroupMayRead() throws Exception {
    job.set(MRConfig.LOCAL_DIR, directory.resolve("1") + "," + directory.resolve("2"));
    Files.createDirectories(directory.resolve("1"));
    Files.createDirectories(directory.resolve("2"));
    job.set("mapreduce.task.local.output.class", "org.apache.hadoop.mapred.YarnOutputFiles");
    job.setNumReduceTasks(3);
    TreeSet<String> disks = new TreeSet<>();
    for (int map = 0; map < 4; map++) {
      TaskAttemptID attempt = new TaskAttemptID("1", 1, TaskType.MAP, map, 0);
      MapRun.of(job, directory.resolve("splits"), attempt, LocalCollectorTest::words);
      for (String disk : List.of("1", "2")) {
        Path output = directory.resolve(disk).resolve("output").resolve(attempt.toString());
        if (Files.exists(output)) {
          disks.add(disk);
          assertEquals(List.of("file.out", "file.out.index"), names(output));
          assertEquals("rw-r-----", PosixFilePermissions.toString(
              Files.getPosixFilePermissions(output.resolve("file.out"))));
        }
      }
    }
    assertEquals("[1, 2]", disks.toString());
  }

  @Test
  void aConsumerThatReadsElsewhereIsRefused() {
    job.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, "org.vas.shuffle.reduce.LustreMerge");
    IOException refused =
        assertThrows(IOException.class, () -> MapRun.of(job, LocalCollectorTest::words));
    assertTrue(deepest(refused).contains(MRConfig.SHUFFLE_CONSUMER_PLUGIN), () -> deepest(refused));
  }

  private static String deepest(Throwable failed) {
    return failed.getCause() == null ? failed.getMessage()
        : failed.getMessage() + "; " + deepest(failed.getCause());
  }

  /** The files below a directory without their places, of outputs only. */
  private static List<String> names(Path below) throws IOException {
    try (Stream<Path> tree = Files.walk(below)) {
      return tree.filter(Files::isRegularFile).map(path -> path.getFileName().toString())
          .filter(name -> !name.startsWith("split") && !name.startsWith(".split")).sorted()
          .collect(Collectors.toList());
    }
  }
}
