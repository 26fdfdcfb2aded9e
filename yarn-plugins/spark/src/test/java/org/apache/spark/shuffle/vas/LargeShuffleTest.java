package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import java.util.function.IntFunction;
import org.apache.spark.HashPartitioner;
import org.apache.spark.MapOutputTracker$;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Option;
import scala.Tuple2;

/** Shuffles of many partitions: what they leave, and what the driver sends for them. */
class LargeShuffleTest {
  private static final int PARTITIONS = 2_000;
  private static final int MAPS = 10_000;
  private static final int NODES = 100;

  private final Path directory = SparkApps.newDirectory().resolve("shuffle");

  /** Two executors in processes of their own read the output of each other. */
  @Test
  @Timeout(600)
  void twoThousandPartitionsInALocalCluster() throws Exception {
    LostExecutorTest.makeHome();
    SparkConf conf = LostExecutorTest.inLocalCluster(SparkApps.vas(directory));
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      JavaPairRDD<Integer, Integer> parts = Jobs.pairs(context, 20_000, 5_000)
          .mapValues(String::length).partitionBy(new HashPartitioner(PARTITIONS));
      Tuple2<Integer, Long> found = parts.mapPartitions(pairs -> {
        long sum = 0;
        int count = 0;
        for (; pairs.hasNext(); count++) {
          Tuple2<Integer, Integer> pair = pairs.next();
          sum += (long) pair._1() * pair._2();
        }
        return Set.of(new Tuple2<>(count, sum)).iterator();
      }).reduce((a, b) -> new Tuple2<>(a._1() + b._1(), a._2() + b._2()));
      assertEquals(expected(), found);
      assertEquals(4, SparkApps.files(directory, ".data").size());
      assertEquals(4, SparkApps.files(directory, ".index").size());
    }
    assertEquals(Set.of(), SparkApps.below(directory), "nothing is left");
  }

  private static Tuple2<Integer, Long> expected() {
    long sum = 0;
    for (int i = 0; i < 20_000; i++) {
      sum += (long) (i * 31 % 5_000) * ("value " + i).length();
    }
    return new Tuple2<>(20_000, sum);
  }

  /**
   * Each map's output has a location of its own, which the driver sends to every executor along
   * with the sizes: some 900 bytes a map. A location may add 16.
   */
  @Test
  void tenThousandLocationsAddLittleToWhatTheDriverSends() {
    try (JavaSparkContext context = new JavaSparkContext(SparkApps.stock())) {
      BlockManagerId[] executors = new BlockManagerId[NODES];
      for (int i = 0; i < NODES; i++) {
        executors[i] = BlockManagerId.apply("" + i, "node-" + i, 7337, Option.empty());
      }
      long sparks = sent(map -> executors[map % NODES]);
      long ours = sent(map -> MapLocations.own(executors[map % NODES], map));
      assertTrue(ours <= sparks + 16 * MAPS,
          context.appName() + ": " + ours + " bytes, Spark's own " + sparks);
    }
  }

  private static long sent(IntFunction<BlockManagerId> location) {
    Random random = new Random(1);
    MapStatus[] all = new MapStatus[MAPS];
    for (int map = 0; map < MAPS; map++) {
      long[] sizes = new long[PARTITIONS];
      for (int i = 0; i < PARTITIONS; i++) {
        sizes[i] = (long) (64_000 * Math.exp(random.nextGaussian() / 4));
      }
      all[map] = MapStatus$.MODULE$.apply(location.apply(map), sizes, map, 0);
    }
    Tuple2<byte[], Broadcast<byte[][]>> sent = MapOutputTracker$.MODULE$.serializeOutputStatuses(
        all, SparkEnv.get().broadcastManager(), true, 512 << 10, SparkEnv.get().conf());
    long bytes = sent._1().length;
    if (sent._2() != null) {
      for (byte[] part : sent._2().value()) {
        bytes += part.length;
      }
    }
    return bytes;
  }
}
