package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.apache.hadoop.mapred.TaskAttemptID;

/** The bound of {@link MemoryBoundTest} on a reducer whose map output comes by the real daemon. */
class NodeMemoryBoundTest extends MemoryBoundTest {
  @Override
  String medium() {
    return "node";
  }

  @Override
  ReduceHarness harness(int maps) throws IOException {
    return new NodeHarness(dir, maps);
  }

  @Override
  void publish(ReduceHarness harness, TaskAttemptID attempt, List<Rec> run) throws IOException {
    harness.publish(attempt, List.of(run));
  }

  @Override
  void leftNoPass() throws IOException {
    try (var left = Files.walk(dir.resolve("nm"))) {
      assertFalse(left.anyMatch(each -> each.getFileName().toString().startsWith("pass-")));
    }
  }

  /** There are no manifests: stock's index is read by the daemon. */
  @Override
  void P1_manifestsOfManyPartitionsAreReadWithinTheBound(String collector) {}

  /** The map's node finds such damage before the merge, and no attempt fails: NodeReduceFaultsTest. */
  @Override
  void theProcessOfAFailedAttemptEnds() {}
}
