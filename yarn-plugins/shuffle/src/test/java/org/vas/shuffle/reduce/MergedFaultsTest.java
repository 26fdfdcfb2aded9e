package org.vas.shuffle.reduce;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

/**
 * The cases of {@link NodeFaultsTest} in jobs that have the daemon merge. It has so little memory that it
 * holds a part of each segment only.
 */
@Tag("long")
class MergedFaultsTest extends NodeFaultsTest {
  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.merged(at, maps, "8m");
  }

  @Disabled("a merge by the daemon makes no passes that fill a disk; NodeFaultsTest makes some")
  @Test
  @Override
  void aFullDiskFailsTheAttemptThatNeedsPassesAndNoMapIsReported() {}
}
