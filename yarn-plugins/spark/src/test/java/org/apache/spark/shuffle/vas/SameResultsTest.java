package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.apache.spark.HashPartitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The same jobs with Spark's own shuffle and with VAS's give the same results. */
class SameResultsTest {
  private static Map<String, String> expected;

  @BeforeAll
  static void runWithSparksOwn() {
    try (JavaSparkContext context = new JavaSparkContext(SparkApps.stock())) {
      expected = Jobs.all(context);
      expected.put("big records", Jobs.bigRecords(context));
    }
  }

  @Test
  void withBypassAndSortWriters() {
    SparkConf conf = SparkApps.vas(SparkApps.newDirectory().resolve("shuffle"));
    check(conf, "BypassMergeSortShuffleHandle");
  }

  @Test
  void withTheSerialisedWriter() {
    SparkConf conf = SparkApps.vas(SparkApps.newDirectory().resolve("shuffle"))
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.shuffle.sort.bypassMergeThreshold", "1");
    check(conf, "SerializedShuffleHandle");
  }

  @Test
  void withTheSortWriterAlone() {
    SparkConf conf = SparkApps.vas(SparkApps.newDirectory().resolve("shuffle"))
        .set("spark.shuffle.sort.bypassMergeThreshold", "1");
    check(conf, "BaseShuffleHandle");
  }

  @Test
  void withEncryption() {
    check(SparkApps.vas(SparkApps.newDirectory().resolve("shuffle"))
        .set("spark.io.encryption.enabled", "true"), "BypassMergeSortShuffleHandle");
  }

  @Test
  void withEncryptionAndTheSerialisedWriter() {
    check(SparkApps.vas(SparkApps.newDirectory().resolve("shuffle"))
        .set("spark.io.encryption.enabled", "true")
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.shuffle.sort.bypassMergeThreshold", "1"), "SerializedShuffleHandle");
  }

  @Test
  void withoutCompressionAndWithSpills() {
    check(SparkApps.vas(SparkApps.newDirectory().resolve("shuffle"))
        .set("spark.shuffle.compress", "false")
        .set("spark.shuffle.checksum.enabled", "true")
        .set("spark.shuffle.sort.bypassMergeThreshold", "1")
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.shuffle.spill.numElementsForceSpillThreshold", "500"),
        "SerializedShuffleHandle");
  }

  private static void check(SparkConf conf, String handle) {
    Path directory = Path.of(conf.get("spark.vas.shuffle.directory"));
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      assertEquals(handle, handleOf(
          Jobs.pairs(context, 10, 10).partitionBy(new HashPartitioner(7))));
      Map<String, String> found = Jobs.all(context);
      found.put("big records", Jobs.bigRecords(context));
      assertEquals(expected, found);
      assertTrue(SparkApps.files(directory, ".data").size() > 20, "all of it went this way");
    }
    assertEquals(Set.of(), SparkApps.below(directory), "nothing is left");
  }

  private static String handleOf(JavaPairRDD<?, ?> shuffled) {
    ShuffleDependency<?, ?, ?> only = (ShuffleDependency<?, ?, ?>) shuffled.rdd().dependencies().head();
    return ((VasShuffleHandle<?, ?, ?>) only.shuffleHandle()).sparks().getClass().getSimpleName();
  }
}
