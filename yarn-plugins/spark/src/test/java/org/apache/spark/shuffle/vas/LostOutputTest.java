package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

/** What is done to files of a map between the stages costs that map alone, and no right result. */
class LostOutputTest {
  private final Path directory = SparkApps.newDirectory().resolve("shuffle");

  /** Damages one file. */
  @FunctionalInterface
  interface Damage {
    void to(Path file) throws IOException;
  }

  @ParameterizedTest
  @CsvSource({"true,true,false", "true,false,false", "false,true,false", "true,true,true"})
  void aDeletedDataFile(boolean compress, boolean detect, boolean encrypt) throws Exception {
    oneMapRunsAgain(conf(compress, detect, encrypt), ".data", Files::delete);
  }

  @ParameterizedTest
  @CsvSource({"true,true,false", "true,false,false", "false,true,false", "true,true,true"})
  void aFlippedByteOfTheData(boolean compress, boolean detect, boolean encrypt) throws Exception {
    oneMapRunsAgain(conf(compress, detect, encrypt), ".data", LostOutputTest::flipFirst);
  }

  @Test
  void anEmptiedDataFile() throws Exception {
    oneMapRunsAgain(conf(true, true, false), ".data", file -> Files.write(file, new byte[0]));
  }

  @Test
  void aDeletedIndex() throws Exception {
    oneMapRunsAgain(withoutKeptIndexes(), ".index", Files::delete);
  }

  @Test
  void aFlippedByteOfTheIndex() throws Exception {
    oneMapRunsAgain(withoutKeptIndexes(), ".index", LostOutputTest::flipFirst);
  }

  @Test
  void aCutOffIndex() throws Exception {
    oneMapRunsAgain(withoutKeptIndexes(), ".index", file ->
        Files.write(file, java.util.Arrays.copyOf(Files.readAllBytes(file), 70)));
  }

  @Test
  void theFilesOfAnotherMapInItsPlace() throws Exception {
    oneMapRunsAgain(withoutKeptIndexes(), ".index", file -> Files.copy(
        SparkApps.files(file.getParent(), ".index").stream().filter(other -> !other.equals(file))
            .findFirst().orElseThrow(), file,
        java.nio.file.StandardCopyOption.REPLACE_EXISTING));
  }

  /** It is in the memory of its writer, so a lost file costs nothing there. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aKeptIndexIsNotReadAgain(boolean delete) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(conf(true, true, false))) {
      JavaPairRDD<Integer, Integer> sums = sums(context);
      List<?> before = sums.collect();
      TaskCounts counts = TaskCounts.of(context.sc());
      Path index = SparkApps.files(directory, ".index").get(1);
      if (delete) {
        Files.delete(index);
      } else {
        flipFirst(index);
      }
      assertEquals(before, sums.collect());
      assertEquals(Map.of(), counts.failed());
    }
  }

  @Test
  void aLinkInItsPlace() throws Exception {
    oneMapRunsAgain(conf(true, true, false), ".data", file -> {
      Path elsewhere = directory.resolveSibling("elsewhere");
      Files.move(file, elsewhere);
      Files.createSymbolicLink(file, elsewhere);
    });
  }

  /** One reader, which names one map in each attempt, would give up after four. */
  @ParameterizedTest
  @ValueSource(strings = {"index", "data"})
  void allOfAShuffle(String kind) throws Exception {
    allOf(kind, Files::delete);
  }

  /** A machine that loses its power leaves files of the right length without their bytes. */
  @Test
  void allIndexesOfAShuffleAreZeros() throws Exception {
    allOf("index", file -> Files.write(file, new byte[(int) Files.size(file)]));
  }

  private void allOf(String kind, Damage damage) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(withoutKeptIndexes())) {
      JavaPairRDD<Integer, Integer> sums = context.parallelize(
          IntStream.range(0, 1_000).boxed().toList(), 12).mapToPair(i -> new Tuple2<>(i % 7, i))
          .reduceByKey(Integer::sum, 1);
      List<?> before = sums.collect();
      TaskCounts counts = TaskCounts.of(context.sc());
      for (Path file : SparkApps.files(directory, "." + kind)) {
        damage.to(file);
      }
      assertEquals(Set.copyOf(before), Set.copyOf(sums.collect()));
      assertEquals(12, counts.succeeded().entrySet().stream()
          .filter(each -> each.getKey().startsWith("ShuffleMapTask"))
          .mapToInt(Map.Entry::getValue).sum(), counts.failed()::toString);
    }
  }

  @Test
  void aDirectoryThatIsAwayBlamesNoMap() throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(conf(true, true, false))) {
      JavaPairRDD<Integer, Integer> sums = sums(context);
      sums.collect();
      TaskCounts counts = TaskCounts.of(context.sc());
      Files.move(directory, directory.resolveSibling("away"));
      SparkException e = assertThrows(SparkException.class, sums::collect);
      assertTrue(e.getMessage().contains("is Lustre mounted on this machine?"), e.getMessage());
      assertTrue(counts.failed().keySet().stream().noneMatch(each -> each.contains("FetchFailed")),
          counts.failed()::toString);
    }
  }

  private SparkConf conf(boolean compress, boolean detect, boolean encrypt) {
    return SparkApps.vas(directory).set("spark.shuffle.compress", String.valueOf(compress))
        .set("spark.shuffle.detectCorrupt", String.valueOf(detect))
        .set("spark.io.encryption.enabled", String.valueOf(encrypt));
  }

  private SparkConf withoutKeptIndexes() {
    return conf(true, true, false).set("spark.vas.shuffle.kept-indexes", "0");
  }

  private static JavaPairRDD<Integer, Integer> sums(JavaSparkContext context) {
    return Jobs.pairs(context, 2_000, 300).mapValues(String::length)
        .reduceByKey(Integer::sum, 3);
  }

  private void oneMapRunsAgain(SparkConf conf, String suffix, Damage damage) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      JavaPairRDD<Integer, Integer> sums = sums(context);
      List<?> before = sums.collect();
      TaskCounts counts = TaskCounts.of(context.sc());
      damage.to(SparkApps.files(directory, suffix).get(1));
      assertEquals(before, sums.collect());
      Map<String, Integer> maps = counts.succeeded();
      maps.keySet().removeIf(each -> !each.startsWith("ShuffleMapTask"));
      assertEquals(1, maps.values().stream().mapToInt(each -> each).sum(),
          maps + " " + counts.failed());
      assertEquals(List.of("FetchFailed"), counts.failed().keySet().stream()
          .map(each -> each.replaceFirst(".* ", "")).distinct().toList());
    }
  }

  private static void flipFirst(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[0] ^= 1;
    Files.write(file, bytes, StandardOpenOption.TRUNCATE_EXISTING);
  }
}
