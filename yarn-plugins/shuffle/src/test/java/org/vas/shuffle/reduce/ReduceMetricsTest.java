package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.test.MetricsAsserts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.SharedFileSystem;

/** Reads the metrics of a reduce task while it runs. */
class ReduceMetricsTest {
  @TempDir
  private Path directory;

  @AfterEach
  void heal() {
    SharedFileSystem.heal();
  }

  @Test
  @Timeout(60)
  void segmentsAreOpenWhileTheyAreReadAndClosedInTheEnd() throws Exception {
    ReduceHarness harness = new ReduceHarness(directory, 3);
    for (int map = 0; map < 3; map++) {
      harness.map(map, List.of(List.of(new Rec(new Text("k"), new Text("v")))));
    }
    AtomicInteger most = new AtomicInteger();
    SharedFileSystem.inject((call, path) -> {
      if (call.equals("read") && path.getName().endsWith(".mof")) {
        most.accumulateAndGet(open(), Math::max);
      }
    });
    harness.check();
    assertTrue(most.get() >= 1, () -> most + " were open");
    assertEquals(0, open());
    assertEquals(harness.counter("MOFS_OPENED"), counter("SegmentsOpened"));
    assertEquals(harness.counter("MOF_BYTES_READ"), counter("BytesRead"));
    assertTrue(counter("ReadRequests") >= counter("SegmentsOpened"));
    assertTrue(counter("MetadataRequests") > 0);
    assertEquals(0, counter("ValidationFailures"));
  }

  @Test
  @Timeout(60)
  void failedValidationsAreCounted() throws Exception {
    ReduceHarness harness = new ReduceHarness(directory, 1);
    harness.umbilical.event(ReduceHarness.map(0, 0), TaskCompletionEvent.Status.SUCCEEDED);
    AtomicInteger reports = new AtomicInteger();
    harness.publish(ReduceHarness.map(0, 1),
        List.of(List.of(new Rec(new Text("k"), new Text("v")))));
    harness.umbilical.onReport(attempt -> {
      if (reports.incrementAndGet() == 1) {
        harness.umbilical.event(attempt, TaskCompletionEvent.Status.OBSOLETE);
        harness.umbilical.event(ReduceHarness.map(0, 1), TaskCompletionEvent.Status.SUCCEEDED);
      }
    });
    harness.check();
    assertEquals(1, counter("ValidationFailures"));
  }

  private static int open() {
    return MetricsAsserts.getIntGauge(
        "OpenSegments", MetricsAsserts.getMetrics(ReduceMetrics.NAME));
  }

  private static long counter(String name) {
    return MetricsAsserts.getLongCounter(name, MetricsAsserts.getMetrics(ReduceMetrics.NAME));
  }
}
