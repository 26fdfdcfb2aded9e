package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Executors in processes of their own, of which one is killed after the maps. */
class LostExecutorTest {
  private final Path directory = SparkApps.newDirectory().resolve("shuffle");

  /** Gives executors this JVM's class path: Spark takes it from SPARK_HOME/jars. */
  @BeforeAll
  static void makeHome() throws IOException {
    Path jars = Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
    for (String entry : classPath()) {
      Path jar = Path.of(entry);
      Path link = jars.resolve(jar.getFileName());
      if (entry.endsWith(".jar") && !Files.exists(link)) {
        Files.createSymbolicLink(link, jar);
      }
    }
  }

  @Test
  void costsNoMap() throws Exception {
    assertEquals(Map.of(), mapsAgain(SparkApps.vas(directory)));
    assertEquals(Set.of(), SparkApps.below(directory), "nothing is left");
  }

  @Test
  void costsMapsWithSparksOwn() throws Exception {
    Map<String, Integer> again = mapsAgain(SparkApps.stock());
    assertTrue(again.values().stream().mapToInt(each -> each).sum() >= 1, again.toString());
  }

  /** Returns the configuration changed to two executors in processes of their own. */
  static SparkConf inLocalCluster(SparkConf conf) {
    return conf.setMaster("local-cluster[2,1,1024]").set("spark.executor.extraClassPath",
        String.join(":", classPath().stream().filter(each -> !each.endsWith(".jar")).toList()));
  }

  private static Map<String, Integer> mapsAgain(SparkConf conf) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(inLocalCluster(conf))) {
      JavaPairRDD<Integer, Integer> sums = Jobs.pairs(context, 2_000, 300)
          .mapValues(String::length).reduceByKey(Integer::sum, 3);
      Map<Integer, Integer> before = sums.collectAsMap();
      TaskCounts counts = TaskCounts.of(context.sc());
      kill();
      assertEquals(before, sums.collectAsMap());
      Map<String, Integer> maps = counts.succeeded();
      maps.keySet().removeIf(each -> !each.startsWith("ShuffleMapTask"));
      return maps;
    }
  }

  private static void kill() throws Exception {
    ProcessHandle executor = ProcessHandle.current().descendants().filter(each -> each.info()
        .commandLine().orElse("").contains("CoarseGrainedExecutorBackend")).findFirst().orElseThrow();
    executor.destroyForcibly();
    executor.onExit().get(60, TimeUnit.SECONDS);
  }

  private static List<String> classPath() {
    return Arrays.asList(System.getProperty("surefire.test.class.path",
        System.getProperty("java.class.path")).split(":"));
  }
}
