package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * SQL with adaptive execution gives the same results and the same plans: partitions are coalesced,
 * and read as batches, and a skewed one is read by ranges of maps.
 */
class SqlTest {
  private static final Map<String, String> QUERIES = Map.of(
      "aggregation", "select k % 50 g, count(*), sum(v) from facts group by k % 50",
      "join", "select f.k, count(*), sum(f.v + d.v) from facts f join dim d on f.k = d.k group by f.k",
      "order", "select k, v from facts order by v desc, k limit 100",
      "distinct", "select count(distinct k), count(distinct v % 7) from facts",
      "window", "select sum(r) from (select rank() over (partition by k % 20 order by v) r from dim)");

  private static Map<String, String> expected;

  @BeforeAll
  static void runWithSparksOwn() {
    expected = run(SparkApps.stock());
  }

  @ParameterizedTest
  @CsvSource({"false,lz4", "true,lz4", "false,zstd", "false,snappy", "false,none"})
  void sameResultsAndPlans(boolean encrypt, String codec) {
    Path directory = SparkApps.newDirectory().resolve("shuffle");
    SparkConf conf = SparkApps.vas(directory)
        .set("spark.io.encryption.enabled", String.valueOf(encrypt));
    Map<String, String> found = run(codec.equals("none")
        ? conf.set("spark.shuffle.compress", "false") : conf.set("spark.io.compression.codec", codec));
    assertEquals(expected, found);
    assertEquals(Set.of(), SparkApps.below(directory), "nothing is left");
  }

  private static Map<String, String> run(SparkConf conf) {
    conf.set("spark.sql.shuffle.partitions", "40")
        .set("spark.sql.autoBroadcastJoinThreshold", "-1")
        .set("spark.sql.adaptive.advisoryPartitionSizeInBytes", "20k")
        .set("spark.sql.adaptive.coalescePartitions.minPartitionSize", "1k")
        .set("spark.sql.adaptive.skewJoin.skewedPartitionFactor", "2")
        .set("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "10k");
    SparkSession session = SparkSession.builder().config(conf).getOrCreate();
    try {
      session.range(0, 60_000, 1, 6).selectExpr(
          "case when id % 3 > 0 then 7 else id % 300 end k", "hash(id) v", "cast(id as string) u")
          .createOrReplaceTempView("facts");
      session.range(0, 300, 1, 2).selectExpr("id k", "id * 3 v").createOrReplaceTempView("dim");
      Map<String, String> results = new LinkedHashMap<>();
      QUERIES.forEach((name, query) -> results.put(name, rows(session.sql(query))));
      Dataset<Row> skewed = session.sql(
          "select f.k, f.v, d.v w from facts f join dim d on f.k = d.k");
      results.put("skewed join", rows(skewed).hashCode() + "");
      String plan = skewed.queryExecution().executedPlan().toString();
      assertTrue(plan.contains("skewed"), plan);
      assertTrue(plan.contains("coalesced"), plan);
      return results;
    } finally {
      session.stop();
    }
  }

  private static String rows(Dataset<Row> data) {
    List<Row> rows = data.collectAsList();
    return rows.stream().map(Row::toString).sorted().collect(Collectors.joining("\n"));
  }
}
