package org.vas.shuffle.reduce;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** The cases of {@link HangTest} by NodeMerge and the real daemon. */
@Tag("long")
class NodeHangTest extends HangTest {
  final Media media = new Media();

  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.onNode(at, maps);
  }

  @AfterEach
  void end() {
    media.close();
  }
}
