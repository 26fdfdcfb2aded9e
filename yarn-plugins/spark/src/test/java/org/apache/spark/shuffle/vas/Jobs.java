package org.apache.spark.shuffle.vas;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Jobs with shuffles of different shapes; each returns text that depends on every record. */
final class Jobs {
  private static final int MAPS = 4;
  private static final int BIG = 20 << 20;

  private Jobs() {}

  /** Runs all of them; returns the result of each by its name. */
  static Map<String, String> all(JavaSparkContext context) {
    Map<String, String> results = new LinkedHashMap<>();
    results.put("groupByKey", groupByKey(context));
    results.put("reduceByKey", reduceByKey(context));
    results.put("sortByKey", sortByKey(context));
    results.put("join", join(context));
    results.put("mostly empty", mostlyEmpty(context));
    results.put("two shuffles", twoShuffles(context));
    results.put("nothing", nothing(context));
    return results;
  }

  static JavaPairRDD<Integer, String> pairs(JavaSparkContext context, int count, int keys) {
    List<Integer> numbers = IntStream.range(0, count).boxed().collect(Collectors.toList());
    return context.parallelize(numbers, MAPS)
        .mapToPair(i -> new Tuple2<>(i * 31 % keys, "value " + i));
  }

  static String groupByKey(JavaSparkContext context) {
    return text(pairs(context, 20_000, 97).groupByKey(7).mapValues(values -> {
      List<String> sorted = new ArrayList<>();
      values.forEach(sorted::add);
      Collections.sort(sorted);
      return sorted.size() + " " + sorted.hashCode();
    }).collect());
  }

  static String reduceByKey(JavaSparkContext context) {
    return text(pairs(context, 20_000, 501).mapValues(String::length)
        .reduceByKey(Integer::sum, 5).collect());
  }

  static String sortByKey(JavaSparkContext context) {
    return pairs(context, 20_000, 20_000).sortByKey(true, 6).collect().toString().hashCode() + "";
  }

  static String join(JavaSparkContext context) {
    JavaPairRDD<Integer, String> skewed = pairs(context, 4_000, 50)
        .mapToPair(pair -> new Tuple2<>(pair._1() < 40 ? 0 : pair._1(), pair._2()));
    return text(skewed.join(pairs(context, 100, 60), 8)
        .mapToPair(pair -> new Tuple2<>(pair._1(), pair._2()._1() + pair._2()._2()))
        .mapValues(String::hashCode).reduceByKey(Integer::sum).collect());
  }

  static String mostlyEmpty(JavaSparkContext context) {
    return text(pairs(context, 20, 20).partitionBy(new HashPartitioner(500)).collect());
  }

  static String twoShuffles(JavaSparkContext context) {
    return text(pairs(context, 5_000, 300).reduceByKey((a, b) -> a.compareTo(b) < 0 ? a : b, 6)
        .mapToPair(pair -> new Tuple2<>(pair._2().length(), pair._1()))
        .reduceByKey(Integer::sum, 3).collect());
  }

  static String nothing(JavaSparkContext context) {
    return text(pairs(context, 100, 10).filter(pair -> false).groupByKey(3).collect());
  }

  /** Sends records of 20 MB each; returns their lengths and sums. */
  static String bigRecords(JavaSparkContext context) {
    return text(context.parallelize(List.of(1, 2, 3), 3)
        .mapToPair(i -> new Tuple2<>(i, big(i))).partitionBy(new HashPartitioner(2))
        .mapValues(bytes -> bytes.length + " " + Arrays.hashCode(bytes)).collect());
  }

  private static byte[] big(int seed) {
    byte[] bytes = new byte[BIG];
    new java.util.Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static String text(List<?> records) {
    return records.stream().map(String::valueOf).sorted().collect(Collectors.joining("\n"));
  }
}
