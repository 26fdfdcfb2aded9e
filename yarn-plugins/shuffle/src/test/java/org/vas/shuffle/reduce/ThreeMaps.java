package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.SharedFileSystem;

/** A reducer with the outputs of three maps, for tests of faults. */
abstract class ThreeMaps {
  static final int MAPS = 3;
  static final TaskAttemptID FIRST = ReduceHarness.map(1, 0);
  static final TaskAttemptID SECOND = ReduceHarness.map(1, 1);

  @TempDir Path dir;
  ReduceHarness harness;

  /** Makes a harness on the medium of this class. */
  ReduceHarness harness(Path at, int maps) throws IOException {
    return new ReduceHarness(at, maps);
  }

  @BeforeEach
  void threeMaps() throws IOException {
    harness = harness(dir, MAPS);
    for (int map = 0; map < MAPS; map++) {
      harness.map(map, records(map));
    }
  }

  @AfterEach
  void heal() {
    SharedFileSystem.heal();
  }

  static List<List<Rec>> records(int map) {
    return List.of(Rec.random(new Random(map), 20_000));
  }

  AtomicInteger runAgainAfterReports(int count) {
    AtomicInteger reports = new AtomicInteger();
    harness.umbilical.onReport(attempt -> {
      assertEquals(FIRST, attempt);
      if (reports.incrementAndGet() == count) {
        try {
          harness.publish(SECOND, records(1));
        } catch (IOException e) {
          throw new AssertionError(e);
        }
        harness.umbilical.event(FIRST, Status.OBSOLETE);
        harness.umbilical.event(SECOND, Status.SUCCEEDED);
      }
    });
    return reports;
  }

  // The old interface wraps what the iterator throws.
  IOException failure() {
    Throwable thrown = assertThrows(Exception.class, harness::run);
    return (IOException) (thrown instanceof IOException ? thrown : thrown.getCause());
  }

  static int mapOf(org.apache.hadoop.fs.Path file) {
    return TaskAttemptID.forName(file.getParent().getName()).getTaskID().getId();
  }
}
