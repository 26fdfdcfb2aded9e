package org.vas.shuffle.reduce;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Makes the harnesses of one test on the node medium, and ends their daemons. */
final class Media implements Closeable {
  private final List<NodeHarness> made = new ArrayList<>();

  NodeHarness onNode(Path dir, int maps) throws IOException {
    return made(new NodeHarness(dir, maps));
  }

  /** Makes one whose job has the daemon merge; of its memory merges may hold half. */
  NodeHarness merged(Path dir, int maps, String memory) throws IOException {
    NodeHarness harness = made(new NodeHarness(dir, maps, Map.of("vas.shuffled.memory", memory)));
    harness.job.set("vas.shuffled.delivery", "merged");
    return harness;
  }

  /** Returns how many segments daemons merged in this test. */
  long mergedByDaemons() {
    return made.stream().mapToLong(each -> each.counter("SEGMENTS_MERGED_BY_DAEMON")).sum();
  }

  private NodeHarness made(NodeHarness harness) {
    made.add(harness);
    return harness;
  }

  @Override
  public void close() {
    made.forEach(NodeHarness::close);
    made.clear();
  }
}
