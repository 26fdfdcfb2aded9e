package org.vas.shuffle.reduce;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;

/** The cases of {@link ReduceOrderTest} by NodeMerge and the real daemon. */
class NodeReduceOrderTest extends ReduceOrderTest {
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
