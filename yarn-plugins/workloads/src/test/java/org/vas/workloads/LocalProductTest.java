package org.vas.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs every program, codec and encryption with stock's reducers on LocalCollector's map output.
 */
@Tag("long")
class LocalProductTest {
  private static final List<TaskCounter> ALWAYS = List.of(TaskCounter.MAP_INPUT_RECORDS,
      TaskCounter.MAP_OUTPUT_RECORDS, TaskCounter.SHUFFLED_MAPS, TaskCounter.FAILED_SHUFFLE,
      TaskCounter.MERGED_MAP_OUTPUTS, TaskCounter.REDUCE_INPUT_GROUPS,
      TaskCounter.REDUCE_OUTPUT_RECORDS);

  @TempDir
  Path directory;

  @BeforeAll
  static void encryptionKey() throws IOException {
    ProductTest.encryptionKey();
  }

  @ParameterizedTest(name = "{0}, {1}, encrypted {2}")
  @MethodSource("org.vas.workloads.ProductTest#cases")
  void sameOutputAndCounters(String program, String codec, boolean encrypted) throws Exception {
    Ran stock = run(program, codec, encrypted, false);
    Ran ours = run(program, codec, encrypted, true);
    assertEquals(stock.output(), ours.output());
    assertEquals(stock.of(ALWAYS), ours.of(ALWAYS));
  }

  private Ran run(String program, String codec, boolean encrypted, boolean isOurs)
      throws Exception {
    Path own = directory.resolve(isOurs ? "local" : "stock");
    JobConf job = Programs.job(program, own);
    if (!codec.equals("none")) {
      job.setCompressMapOutput(true);
      job.setMapOutputCompressorClass(
          Map.of("gzip", GzipCodec.class, "lz4", Lz4Codec.class).get(codec));
    }
    job.setBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, encrypted);
    if (isOurs) {
      job.set(MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, "org.vas.shuffle.map.LocalCollector");
    }
    return OneProcess.run(job, own, true);
  }
}
