package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.vas.shuffle.reduce.Rec.random;

import java.io.IOException;
import java.nio.file.Files;
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
  private static final int IFILE_CHECKSUM = 4;
  private static final int END_MARKER = 2;

  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.merged(at, maps, "64m");
  }

  /** Each byte of a record comes once, and of four segments' checksums and end markers one marker. */
  @ParameterizedTest
  @CsvSource({"0, false", "1000, false", "1, true", "1001, true"})
  @Override
  void storedBytesAreReadOnceAndTheirEndsTwice(int attempt, boolean retry) throws Exception {
    ReduceHarness harness = harness(dir, 4);
    long merged = END_MARKER;
    for (int map = 0; map < 4; map++) {
      harness.map(map, List.of(random(new Random(map), 30_000)));
      merged += Files.size(harness.file(ReduceHarness.map(map, 0), "packed.mof")) - IFILE_CHECKSUM - END_MARKER;
    }
    harness.run(attempt);
    assertEquals(merged, harness.counter("MOF_BYTES_READ"));
    assertEquals(0, harness.counter("MOF_BYTES_READ_AGAIN"));
    assertEquals(0, harness.counter("MOFS_OPENED"));
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

  /** The heap of a reducer does not bound what the daemon merges; codecs are the JVM's, with passes. */
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

  @Disabled("a merge by the daemon makes no passes; NodeReduceTaskTest makes some")
  @Test
  @Override
  void aPassTakesNoMoreThanTheMergeCannot() {}
}
