package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each damage of a map output, and each odd event, ends in the right output or a clear failure. */
@Timeout(120)
class ReduceFaultsTest extends ThreeMaps {
  @ParameterizedTest
  @ValueSource(strings = {"no MOF", "cut MOF", "MOF of zeros", "flipped bit in the header",
      "flipped bit in the footer", "no manifest", "flipped bit in the manifest",
      "another version", "empty manifest", "another map's manifest"})
  void aBadOutputIsReportedUntilItsMapHasRunAgain(String damage) throws Exception {
    damage(damage);
    AtomicInteger reports = runAgainAfterReports(2);
    harness.check();
    assertTrue(reports.get() >= 2, "reported until it was taken back: " + reports);
    assertEquals(1, harness.counter(TaskCounter.FAILED_SHUFFLE));
    assertEquals(1, harness.counter("VALIDATION_FAILURES"));
    assertEquals(MAPS, harness.counter(TaskCounter.SHUFFLED_MAPS));
    assertEquals(0, harness.umbilical.reportedByHeartbeat(),
        "the heartbeat's list is the heartbeat's: two threads would change it");
  }

  private void damage(String damage) throws IOException {
    Path mof = harness.file(FIRST, "packed.mof");
    Path manifest = harness.file(FIRST, "manifest");
    byte[] bytes = Files.readAllBytes(manifest);
    switch (damage) {
      case "no MOF":
        Files.delete(mof);
        break;
      case "cut MOF":
        Files.write(mof, Arrays.copyOf(Files.readAllBytes(mof), 1000));
        break;
      case "MOF of zeros":
        Files.write(mof, new byte[(int) Files.size(mof)]);
        break;
      case "flipped bit in the header":
        flipABit(0);
        break;
      case "flipped bit in the footer":
        flipABit(Files.size(mof) - MofWriter.GAP - 1);
        break;
      case "no manifest":
        Files.delete(manifest);
        break;
      case "another version":
        bytes[4]++;
        Files.write(manifest, bytes);
        break;
      case "empty manifest":
        Files.write(manifest, new byte[0]);
        break;
      case "another map's manifest":
        Files.copy(harness.file(ReduceHarness.map(0, 0), "manifest"), manifest,
            StandardCopyOption.REPLACE_EXISTING);
        break;
      default:
        bytes[bytes.length / 2] ^= 4;
        Files.write(manifest, bytes);
    }
  }

  @Test
  void aFlippedBitFailsTheFirstAttemptAndIsReportedByTheSecond() throws Exception {
    flipABit(Files.size(harness.file(FIRST, "packed.mof")) / 2);
    IOException e = failure();
    assertTrue(e.getMessage().contains("wrong checksum at offset"), e::getMessage);
    assertTrue(e.getMessage().contains(FIRST.toString()), e::getMessage);

    AtomicInteger reports = runAgainAfterReports(1);
    harness.checkAttempt(1);
    assertEquals(1, reports.get());
  }

  private void flipABit(long at) throws IOException {
    Path mof = harness.file(FIRST, "packed.mof");
    byte[] bytes = Files.readAllBytes(mof);
    bytes[(int) at] ^= 8;
    Files.write(mof, bytes);
  }

  @Test
  void recordsThatAreMissingFailTheAttempt() throws Exception {
    MofWriter writer = new MofWriter(harness.job).lying(1);
    writer.segment(0, 0, List.of(new Rec(new Text("a"), new Text("b"))));
    writer.publish(FIRST);
    IOException e = failure();
    assertTrue(e.getMessage().contains("were published"), e::getMessage);
  }

  @Test
  void aMapThatFailedForGoodIsDoneWithoutData() throws Exception {
    ReduceHarness other = harness(dir.resolve("2"), 2);
    other.map(0, records(0));
    other.umbilical.event(FIRST, Status.FAILED);
    other.umbilical.event(FIRST, Status.TIPFAILED);
    other.check();
    assertEquals(1, other.counter(TaskCounter.SHUFFLED_MAPS));
  }

  @Test
  void aSecondSuccessAndAReplayOfEventsChangeNothing() throws Exception {
    harness.publish(SECOND, records(1));
    harness.umbilical.event(SECOND, Status.SUCCEEDED);
    harness.umbilical.event(SECOND, Status.KILLED);
    harness.umbilical.event(ReduceHarness.map(2, 7), Status.KILLED);
    harness.umbilical.reset();
    harness.check();
    assertEquals(MAPS, harness.counter(TaskCounter.SHUFFLED_MAPS));
    assertEquals(1, harness.umbilical.asked());
  }

  @Test
  void inputsAreStillThereForARetry() throws Exception {
    harness.check();
    harness.checkAttempt(1);
  }
}
