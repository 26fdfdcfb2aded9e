package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.vas.shuffle.reduce.Rec.random;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cases of {@link NodeReduceTaskTest} in jobs that have the daemon merge. */
@Tag("long")
class MergedReduceTaskTest extends NodeReduceTaskTest {
  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.merged(at, maps, "64m");
  }

  /** The daemon merges for a task's first attempt alone; whatever that met may be the merge's. */
  @ParameterizedTest
  @CsvSource({"0, false", "1000, false", "1, true", "1001, true"})
  @Override
  void storedBytesAreReadOnceAndTheirEndsTwice(int attempt, boolean retry) throws Exception {
    super.storedBytesAreReadOnceAndTheirEndsTwice(attempt, retry);
    assertEquals(attempt == 0 ? 4 : 0, media.mergedByDaemons());
  }

  /** The daemon fetches what it merges, so that nothing comes with the looks. */
  @Test
  @Override
  void smallSegmentsAreReadOnceAndOpenedOnce() throws Exception {
    ReduceHarness harness = harness(dir, 4);
    for (int map = 0; map < 4; map++) {
      harness.map(map, List.of(random(new Random(map), 3000)));
    }
    harness.check();
    assertTrue(harness.counter("MOF_BYTES_READ") > 0);
    assertEquals(0, harness.counter("MOFS_OPENED"));
  }

  /** The heap of a reducer does not bound what the daemon merges; an encrypted job's passes are as usual. */
  @ParameterizedTest
  @CsvSource({"none, false", "gzip, true"})
  @Override
  void tooLittleMemoryMeansPassesInTheSameOrder(String codec, boolean encrypted) throws Exception {
    if (encrypted) {
      super.tooLittleMemoryMeansPassesInTheSameOrder(codec, true);
      return;
    }
    ReduceHarness harness = harness(dir, 12);
    harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 300 << 10);
    Random random = new Random(5);
    for (int map = 0; map < 12; map++) {
      harness.map(map, List.of(random(random, 9000), random(random, 10 + 1000 * map)));
    }
    harness.check();
    assertEquals(0, harness.counter("PASSES"));
    assertEquals(0, harness.counter(TaskCounter.SPILLED_RECORDS));
  }

  /** The daemon decodes Snappy and LZ4 itself, for a bounded number of maps; bzip2 is the JVM's. */
  @ParameterizedTest
  @CsvSource({"lz4, 14", "snappy, 14", "bzip2, 40"})
  @Override
  void decompressorsThatDoNotFitMeanPasses(String codec, int mib) throws Exception {
    if (codec.equals("bzip2")) {
      super.decompressorsThatDoNotFitMeanPasses(codec, mib);
      return;
    }
    assertEquals(0, manyCompressed(codec, mib).counter("PASSES"));
    assertEquals(24, media.mergedByDaemons());
  }

  @Disabled("a merge by the daemon makes no passes; NodeReduceTaskTest makes some")
  @Test
  @Override
  void aPassTakesNoMoreThanTheMergeCannot() {}
}
