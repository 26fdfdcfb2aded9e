package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.vas.shuffle.reduce.Rec.random;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cases of {@link ReduceTaskTest} on stock's map output, by NodeMerge and the real daemon. */
@Tag("long")
class NodeReduceTaskTest extends ReduceTaskTest {
  final Media media = new Media();

  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.onNode(at, maps);
  }

  @AfterEach
  void end() {
    media.close();
  }

  /** Small segments come with the look, and others have one run. */
  @Override
  void opened(ReduceHarness harness, int maps, int runs) {
    assertTrue(harness.counter("MOFS_OPENED") <= maps);
  }

  @Override
  void leftNoPass(ReduceHarness harness) throws IOException {
    Path passes = ((NodeHarness) harness).passes();
    assertTrue(Files.exists(passes), "passes were here");
    try (var left = Files.walk(passes)) {
      assertFalse(left.anyMatch(Files::isRegularFile), "a pass is left");
    }
  }

  /** Stock's layout is refused where the job's collector writes another. */
  @Test
  @Override
  void refusesMapOutputOfAnotherCollector() throws Exception {
    ReduceHarness harness = harness(dir, 1);
    harness.job.set("mapreduce.job.map.output.collector.class", "org.vas.shuffle.map.LustreCollector");
    IOException e = assertThrows(IOException.class, harness::run);
    assertTrue(e.getMessage().contains("mapreduce.job.map.output.collector.class"), e::getMessage);
  }

  /** Each byte comes once, whatever the number of the attempt: the map's node has checked them all. */
  @ParameterizedTest
  @CsvSource({"0, false", "1000, false", "1, true", "1001, true"})
  @Override
  void storedBytesAreReadOnceAndTheirEndsTwice(int attempt, boolean retry) throws Exception {
    ReduceHarness harness = harness(dir, 4);
    long stored = 0;
    for (int map = 0; map < 4; map++) {
      harness.map(map, List.of(random(new Random(map), 30_000)));
      stored += Files.size(harness.file(ReduceHarness.map(map, 0), "packed.mof"));
    }
    harness.run(attempt);
    assertEquals(stored, harness.counter("MOF_BYTES_READ"));
    assertEquals(0, harness.counter("MOF_BYTES_READ_AGAIN"));
  }

  /** Small segments come with the look: none is opened, and nothing is read besides. */
  @Test
  @Override
  void smallSegmentsAreReadOnceAndOpenedOnce() throws Exception {
    ReduceHarness harness = harness(dir, 4);
    for (int map = 0; map < 4; map++) {
      harness.map(map, List.of(random(new Random(map), 3000)));
    }
    harness.check();
    assertEquals(0, harness.counter("MOF_BYTES_READ"));
    assertEquals(0, harness.counter("MOFS_OPENED"));
  }

  /** Where all runs in one process no daemon is asked, and no directory of the job is needed. */
  @Test
  @Override
  void aJobInOneProcessGetsStocksShuffle() throws Exception {
    assertEquals(List.of(), harness(dir, 0).oneProcess().run());
  }
}
