package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The cases of {@link NodeReduceOrderTest} in jobs that have the daemon merge, where it can. */
class MergedReduceOrderTest extends NodeReduceOrderTest {
  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.merged(at, maps, "64m");
  }

  @Test
  @Override
  void equalKeysComeInTheOrderOfMapsAndRuns() throws Exception {
    super.equalKeysComeInTheOrderOfMapsAndRuns();
    assertEquals(3, media.mergedByDaemons());
  }
}
