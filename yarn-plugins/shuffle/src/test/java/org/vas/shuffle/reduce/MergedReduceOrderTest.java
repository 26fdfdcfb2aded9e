package org.vas.shuffle.reduce;

import java.io.IOException;
import java.nio.file.Path;

/** The cases of {@link NodeReduceOrderTest} in jobs that have the daemon merge, where it can. */
class MergedReduceOrderTest extends NodeReduceOrderTest {
  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.merged(at, maps, "64m");
  }
}
