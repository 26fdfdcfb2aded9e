package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.codahale.metrics.Counter;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.HashPartitioner;
import org.apache.spark.Partitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec$;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a job asks of the file system for its map output, by the counters that Spark's metrics
 * system has: each work that a task could do twice is counted.
 */
class CountedWorkTest {
  private static final int MAPS = 4;
  private static final int REDUCERS = 7;

  private final Path directory = SparkApps.newDirectory().resolve("shuffle");

  /** Runs one shuffle of which every map has bytes for every reducer. */
  private static Map<String, Long> shuffle(SparkConf conf) {
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      Jobs.pairs(context, 20_000, 997).partitionBy(new HashPartitioner(REDUCERS)).count();
      return counted();
    }
  }

  static Map<String, Long> counted() {
    Map<String, Long> counted = new TreeMap<>();
    SparkEnv.get().metricsSystem().getSourcesByName("vasShuffle").head().metricRegistry()
        .getCounters().forEach((String name, Counter counter) ->
            counted.put(name, counter.getCount()));
    return counted;
  }

  @Test
  void anExecutorOpensNoIndexThatItWrote() {
    Map<String, Long> counted = shuffle(SparkApps.vas(directory));
    assertEquals(2 * MAPS, counted.get("files"));
    assertEquals(MAPS * REDUCERS, counted.get("opens"), "data alone");
    assertEquals(MAPS * REDUCERS, counted.get("reads"), "each block by one call");
    assertEquals(MAPS * REDUCERS, counted.get("keptIndexes"));
    assertEquals(0, counted.get("syncs"));
  }

  /** Of a task's maps only the first is read when it is asked for. */
  @Test
  void aTaskReadsTheNextMapWhileItHasOne() {
    Map<String, Long> counted = shuffle(SparkApps.vas(directory));
    assertEquals((MAPS - 1) * REDUCERS, counted.get("readsAhead"));
  }

  /** What was begun for a task that wants no more of it is closed. */
  @Test
  void aTaskThatEndsEarlyLeavesNoFileOpen() throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(SparkApps.vas(directory))) {
      Jobs.pairs(context, 20_000, 997).partitionBy(new HashPartitioner(REDUCERS))
          .mapPartitions(pairs -> List.of(pairs.next()).iterator()).count();
      assertTrue(counted().get("opens") > REDUCERS, "some were begun ahead");
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (!open().isEmpty() && System.nanoTime() < end) {
        Thread.sleep(50);
      }
      assertEquals(List.of(), open());
    }
  }

  private List<String> open() throws IOException {
    List<String> open = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path each : all) {
        open.add(target(each));
      }
    }
    open.removeIf(each -> !each.startsWith(directory.toString()));
    return open;
  }

  private static String target(Path link) throws IOException {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (NoSuchFileException closed) {
      return "";
    }
  }

  @Test
  void withoutRoomEachReaderOpensEachIndex() {
    Map<String, Long> counted =
        shuffle(SparkApps.vas(directory).set("spark.vas.shuffle.kept-indexes", "0"));
    assertEquals(2 * MAPS * REDUCERS, counted.get("opens"));
    assertEquals(0, counted.get("keptIndexes"));
  }

  @Test
  void bothFilesOfAMapAreOnDiskIfAsked() {
    assertEquals(2 * MAPS, shuffle(
        SparkApps.vas(directory).set("spark.vas.shuffle.sync-data", "true")).get("syncs"));
  }

  @Test
  void everyByteIsReadAndVerifiedOnce() {
    Map<String, Long> counted = shuffle(SparkApps.vas(directory));
    assertEquals(counted.get("bytesWritten"), counted.get("bytesVerified"));
  }

  /** An executor that has written none of the maps opens each index once, for all its tasks. */
  @Test
  void anotherExecutorOpensEachIndexOnce() {
    // One task at a time: two may both open an index that neither has read yet.
    SparkConf conf = SparkApps.vas(directory).setMaster("local[1]");
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      var shuffled = Jobs.pairs(context, 20_000, 997).partitionBy(new HashPartitioner(REDUCERS));
      shuffled.count();
      ((VasBlockResolver) SparkEnv.get().shuffleManager().shuffleBlockResolver()).forget(0);
      long before = counted().get("opens");
      shuffled.mapToPair(pair -> pair).count();
      assertEquals(MAPS + MAPS * REDUCERS, counted().get("opens") - before);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {7, 1_000})
  void sqlCopiesNoRowBeforeItIsWritten(int partitions) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(SparkApps.vas(directory))) {
      Method copies = ShuffleExchangeExec$.class.getDeclaredMethod(
          "needToCopyObjectsBeforeShuffle", Partitioner.class);
      copies.setAccessible(true);
      assertFalse((boolean) copies.invoke(
          ShuffleExchangeExec$.MODULE$, new HashPartitioner(partitions)), context.appName());
    }
  }
}
