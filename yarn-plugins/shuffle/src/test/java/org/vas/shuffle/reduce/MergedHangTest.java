package org.vas.shuffle.reduce;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

/** The cases of {@link NodeHangTest} in jobs that ask for merges: code of the job means segments. */
@Tag("long")
class MergedHangTest extends NodeHangTest {
  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.merged(at, maps, "64m");
  }
}
