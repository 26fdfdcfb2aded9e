package org.vas.shuffle.reduce;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Makes the harnesses of one test on the node medium, and ends their daemons. */
final class Media implements Closeable {
  private final List<NodeHarness> made = new ArrayList<>();

  NodeHarness onNode(Path dir, int maps) throws IOException {
    NodeHarness harness = new NodeHarness(dir, maps);
    made.add(harness);
    return harness;
  }

  @Override
  public void close() {
    made.forEach(NodeHarness::close);
    made.clear();
  }
}
