package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The cases of {@link NodeReduceFaultsTest} in jobs that have the daemon merge. */
@Tag("long")
class MergedReduceFaultsTest extends NodeReduceFaultsTest {
  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.merged(at, maps, "64m");
  }

  @Test
  @Override
  void aSecondSuccessAndAReplayOfEventsChangeNothing() throws Exception {
    super.aSecondSuccessAndAReplayOfEventsChangeNothing();
    assertEquals(3, media.mergedByDaemons());
  }
}
