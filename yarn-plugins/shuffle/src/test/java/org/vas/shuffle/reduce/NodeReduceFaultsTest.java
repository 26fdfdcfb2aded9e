package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.io.Text;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The cases of {@link ReduceFaultsTest} by NodeMerge and the real daemon. */
@Tag("long")
class NodeReduceFaultsTest extends ReduceFaultsTest {
  final Media media = new Media();

  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.onNode(at, maps);
  }

  @AfterEach
  void end() {
    media.close();
  }

  /** The map's node reads all of a segment before the merge, so the first attempt finds it. */
  @Test
  @Override
  void aFlippedBitFailsTheFirstAttemptAndIsReportedByTheSecond() throws Exception {
    Path data = harness.file(FIRST, "packed.mof");
    byte[] bytes = Files.readAllBytes(data);
    bytes[bytes.length / 2] ^= 8;
    Files.write(data, bytes);
    AtomicInteger reports = runAgainAfterReports(1);
    harness.check();
    assertEquals(1, reports.get());
  }

  /** Stock's index promises bytes, and no records. */
  @Test
  @Override
  void recordsThatAreMissingFailTheAttempt() throws Exception {
    ((NodeHarness) harness).lying(5);
    harness.publish(FIRST, List.of(List.of(new Rec(new Text("a"), new Text("b")))));
    IOException e = failure();
    assertTrue(e.getMessage().contains(FIRST.toString()), e::getMessage);
  }
}
