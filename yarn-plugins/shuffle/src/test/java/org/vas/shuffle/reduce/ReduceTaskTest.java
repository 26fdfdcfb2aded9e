package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.vas.shuffle.reduce.Rec.random;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DeflateCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.shuffle.SharedFileSystem;

/** Compares Hadoop's ReduceTask with the plugin with a stable sort of the same records. */
@Timeout(120)
class ReduceTaskTest {
  private static final long BLOCK = 64 << 10;
  private static final Map<String, Class<? extends CompressionCodec>> CODECS = Map.of(
      "gzip", GzipCodec.class, "bzip2", BZip2Codec.class, "lz4", Lz4Codec.class,
      "snappy", SnappyCodec.class, "deflate", DeflateCodec.class);

  @TempDir Path dir;

  /** Makes a harness on the medium of this class. */
  ReduceHarness harness(Path at, int maps) throws IOException {
    return new ReduceHarness(at, maps);
  }

  @BeforeAll
  static void encryptionKey() throws Exception {
    Credentials credentials = new Credentials();
    TokenCache.setEncryptedSpillKey(new byte[16], credentials);
    UserGroupInformation.getCurrentUser().addCredentials(credentials);
  }

  @ParameterizedTest
  @CsvSource({
      "false, none, false", "true, none, false", "false, gzip, false", "true, bzip2, false",
      "true, none, true", "false, gzip, true", "true, lz4, false", "false, snappy, true",
      "true, deflate, false"})
  void bothInterfacesCodecsAndEncryption(boolean newApi, String codec, boolean encrypted)
      throws Exception {
    ReduceHarness harness = harness(dir, 5);
    if (newApi) {
      harness.newApi();
    }
    configure(harness, codec, encrypted);
    Random random = new Random(7);
    for (int map = 0; map < 5; map++) {
      harness.map(map, List.of(random(random, 300), random(random, 2000), random(random, 1)));
    }
    harness.check();
    opened(harness, 5, 3);
    assertEquals(5, harness.counter(TaskCounter.SHUFFLED_MAPS));
    assertEquals(5, harness.counter(TaskCounter.MERGED_MAP_OUTPUTS));
    assertEquals(5 * 2301, harness.counter(TaskCounter.REDUCE_INPUT_RECORDS));
    assertEquals(0, harness.counter(TaskCounter.SPILLED_RECORDS));
    assertEquals(0, harness.counter(TaskCounter.FAILED_SHUFFLE));
  }

  /** Checks how many segments were opened: of so many maps with so many runs each, none empty. */
  void opened(ReduceHarness harness, int maps, int runs) {
    assertEquals((long) maps * runs, harness.counter("MOFS_OPENED"));
  }

  /** Checks that passes left nothing behind. */
  void leftNoPass(ReduceHarness harness) throws IOException {
    try (var left = Files.list(harness.shuffleDir())) {
      assertEquals(12, left.count(), "only the maps' directories are left");
    }
  }

  private static void configure(ReduceHarness harness, String codec, boolean encrypted) {
    if (!codec.equals("none")) {
      harness.job.setCompressMapOutput(true);
      harness.job.setMapOutputCompressorClass(CODECS.get(codec));
    }
    harness.job.setBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, encrypted);
  }

  @Test
  void shuffleBytesAreStocks() throws Exception {
    ReduceHarness harness = harness(dir, 3);
    // Two lengths, "a" as Text, "b" as Text: 6 bytes a record; end marker and CRC32: 6 a map.
    List<Rec> one = List.of(new Rec(new Text("a"), new Text("b")));
    harness.map(0, List.of(one, one)).map(1, List.of(one)).map(2, List.of());
    harness.run();
    assertEquals(3 * 6 + 3 * 6, harness.counter(TaskCounter.REDUCE_SHUFFLE_BYTES));
    assertEquals(1, harness.counter(TaskCounter.REDUCE_INPUT_GROUPS));
  }

  @Test
  void noMapsAndEmptyMapsGiveNothing() throws Exception {
    assertEquals(List.of(), harness(dir, 0).run());
    ReduceHarness harness = harness(dir.resolve("2"), 2);
    harness.map(0, List.of()).map(1, List.of(List.of()));
    assertEquals(List.of(), harness.run());
    assertEquals(2, harness.counter(TaskCounter.SHUFFLED_MAPS));
    assertEquals(0, harness.counter("MOFS_OPENED"));
  }

  @Test
  void anEmptyPartitionOpensNothing() throws Exception {
    ReduceHarness harness = harness(dir, 1);
    harness.job.setNumReduceTasks(3);
    harness.map(0, List.of(random(new Random(1), 10)));
    assertEquals(List.of(), harness.run(2, 0));
    assertEquals(0, harness.counter("MOFS_OPENED"));
  }

  @Test
  void fiveHundredMapsInLittleMemoryWithoutAPass() throws Exception {
    ReduceHarness harness = harness(dir, 500).newApi();
    harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 2 << 20);
    Random random = new Random(3);
    for (int map = 0; map < 500; map++) {
      harness.map(map, List.of(random(random, 20)));
    }
    harness.check();
    assertEquals(0, harness.counter("PASSES"));
  }

  @ParameterizedTest
  @CsvSource({"none, false", "gzip, true"})
  void tooLittleMemoryMeansPassesInTheSameOrder(String codec, boolean encrypted) throws Exception {
    ReduceHarness harness = harness(dir, 12);
    configure(harness, codec, encrypted);
    harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 300 << 10);
    Random random = new Random(5);
    for (int map = 0; map < 12; map++) {
      harness.map(map, List.of(random(random, 9000), random(random, 10 + 1000 * map)));
    }
    harness.check();
    assertTrue(harness.counter("PASSES") > 0);
    assertTrue(harness.counter(TaskCounter.SPILLED_RECORDS) > 0);
    leftNoPass(harness);
  }

  /** A pass may take more memory than the merge beside reduce(), and has no use for it. */
  @Test
  void aPassTakesNoMoreThanTheMergeCannot() throws Exception {
    ReduceHarness harness = harness(dir, 12);
    harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 4 << 20);
    int records = 20_000;
    for (int map = 0; map < 12; map++) {
      harness.map(map, List.of(random(new Random(map), records)));
    }
    harness.check();
    assertEquals(1, harness.counter("PASSES"));
    long spilled = harness.counter(TaskCounter.SPILLED_RECORDS);
    assertTrue(spilled > 0 && spilled < 9L * records, () -> spilled + " records");
  }

  /** In memory for the read buffers of all, but not for what their decompressors take. */
  @ParameterizedTest
  @CsvSource({"lz4, 14", "snappy, 14", "bzip2, 40"})
  void decompressorsThatDoNotFitMeanPasses(String codec, int mib) throws Exception {
    assertTrue(manyCompressed(codec, mib).counter("PASSES") > 0);
  }

  /** Runs and checks a reduce task of 24 small compressed map outputs with that much memory. */
  ReduceHarness manyCompressed(String codec, int mib) throws Exception {
    ReduceHarness harness = harness(dir, 24);
    configure(harness, codec, false);
    harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, (long) mib << 20);
    for (int map = 0; map < 24; map++) {
      harness.map(map, List.of(random(new Random(map), 100)));
    }
    harness.check();
    return harness;
  }

  @Test
  void refusesMapOutputOfAnotherCollector() throws Exception {
    ReduceHarness harness = harness(dir, 1);
    harness.job.set("mapreduce.job.map.output.collector.class", "");
    IOException e = assertThrows(IOException.class, harness::run);
    assertTrue(e.getMessage().startsWith("mapreduce.job.map.output.collector.class is not set; "),
        e::getMessage);
  }

  /** Stock's shuffle asks nothing about collectors. */
  @Test
  void aJobThatIsSwitchedOffIsStocks() throws Exception {
    ReduceHarness harness = harness(dir, 0);
    harness.job.unset("mapreduce.job.map.output.collector.class");
    harness.job.setBoolean("vas.shuffle.enabled", false);
    assertEquals(List.of(), harness.run());
  }

  /** The first attempt under a restarted application master is number 1000, and no retry. */
  @ParameterizedTest
  @CsvSource({"0, false", "1000, false", "1, true", "1001, true"})
  void storedBytesAreReadOnceAndTheirEndsTwice(int attempt, boolean retry) throws Exception {
    ReduceHarness harness = harness(dir, 4);
    long stored = 0;
    long again = 0;
    long manifests = 0;
    for (int map = 0; map < 4; map++) {
      harness.map(map, List.of(random(new Random(map), 30_000)));
      manifests += Files.size(harness.file(ReduceHarness.map(map, 0), "manifest"));
      long bytes = Files.size(harness.file(ReduceHarness.map(map, 0), "packed.mof")) - 100;
      stored += bytes;
      again += retry ? bytes : BLOCK + (bytes - 1) % BLOCK + 1;
    }
    SharedFileSystem.heal();
    harness.run(attempt);
    assertEquals(stored + again + manifests, SharedFileSystem.BYTES_READ.get());
    assertEquals(stored + again, harness.counter("MOF_BYTES_READ"));
    assertEquals(again, harness.counter("MOF_BYTES_READ_AGAIN"));
  }

  @Test
  void smallSegmentsAreReadOnceAndOpenedOnce() throws Exception {
    ReduceHarness harness = harness(dir, 4);
    long stored = 0;
    for (int map = 0; map < 4; map++) {
      harness.map(map, List.of(random(new Random(map), 3000)));
      stored += Files.size(harness.file(ReduceHarness.map(map, 0), "packed.mof")) - 100;
    }
    harness.check();
    assertEquals(stored, harness.counter("MOF_BYTES_READ"));
    assertEquals(0, harness.counter("MOF_BYTES_READ_AGAIN"));
    assertEquals(4, harness.counter("MOFS_OPENED"));
  }

  @Test
  void oneHugeRecordBetweenSmallOnes() throws Exception {
    ReduceHarness harness = harness(dir, 2).newApi();
    Text huge = new Text("x".repeat(40 << 20));
    harness.map(0, List.of(List.of(new Rec(new Text("b"), huge), new Rec(new Text("c"), huge))));
    harness.map(1, List.of(random(new Random(1), 1000)));
    harness.check();
  }

  @Test
  void aJobInOneProcessGetsStocksShuffle() throws Exception {
    assertEquals(List.of(), harness(dir, 0).oneProcess().run());
    IOException e = assertThrows(IOException.class, () -> {
      ReduceHarness harness = harness(dir, 0);
      harness.job.unset(MRJobConfig.MAPREDUCE_JOB_DIR);
      harness.run();
    });
    assertTrue(e.getMessage().startsWith(MRJobConfig.MAPREDUCE_JOB_DIR), e::getMessage);
  }

  @Test
  void closeMayComeTwiceOrBeforeAnything() {
    LustreMerge<Text, Text> plugin = new LustreMerge<>();
    plugin.close();
    plugin.close();
  }

  @Test
  void thePhasesAreStocks() throws Exception {
    ReduceHarness harness = harness(dir, 1);
    harness.map(0, List.of(random(new Random(1), 100)));
    harness.run();
    List<TaskStatus.Phase> phases = harness.umbilical.phases();
    assertTrue(phases.indexOf(TaskStatus.Phase.SORT) >= 0, phases::toString);
    assertTrue(phases.indexOf(TaskStatus.Phase.SORT)
        < phases.indexOf(TaskStatus.Phase.REDUCE), phases::toString);
  }
}
