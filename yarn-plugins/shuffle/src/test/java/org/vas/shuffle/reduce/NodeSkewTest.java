package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.Reducer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.node.RealDaemon;

/** One map has nearly all of the data, and many reducers want it at once: the daemon's memory is bounded. */
@Timeout(120)
class NodeSkewTest {
  private static final int MAPS = 4;
  private static final int REDUCERS = 24;
  private static final int LARGE_RECORDS = 60;
  private static final int VALUE_BYTES = 1 << 20;

  private static final AtomicInteger RECORDS = new AtomicInteger();

  @TempDir Path dir;

  /** Counts records, and is slow to take the first: what was read ahead waits meanwhile. */
  public static final class Counting extends Reducer<Text, Text, NullWritable, NullWritable> {
    @Override
    protected void reduce(Text key, Iterable<Text> values, Context context) {
      values.forEach(value -> RECORDS.incrementAndGet());
    }
  }

  @BeforeEach
  void countAnew() {
    RECORDS.set(0);
  }

  /** Where the daemon merges, it does so for as many reducers as it has memory for; others get segments. */
  @ParameterizedTest
  @ValueSource(strings = {"segments", "merged"})
  void theDaemonHoldsNoMoreThanItMay(String delivery) throws Exception {
    try (NodeHarness harness = new NodeHarness(dir, MAPS)) {
      harness.newApi();
      harness.job.set("vas.shuffled.delivery", delivery);
      harness.job.setClass(MRJobConfig.REDUCE_CLASS_ATTR, Counting.class, Reducer.class);
      harness.job.set("vas.shuffle.read-size", "1m");
      write(harness);
      // Whatever it costs to serve at all is in the first number.
      run(harness, 1, 0);
      long before = harness.daemon.peakBytes();
      run(harness, REDUCERS, 1);
      long more = harness.daemon.peakBytes() - before;
      assertEquals((LARGE_RECORDS + MAPS - 1) * (REDUCERS + 1), RECORDS.get());
      assertTrue(more <= RealDaemon.MEMORY + RealDaemon.MEMORY / 4, () -> more + " bytes more");
    }
  }

  private static void write(NodeHarness harness) throws IOException {
    for (int map = 0; map < MAPS; map++) {
      List<Rec> records = new ArrayList<>();
      int count = map == 0 ? LARGE_RECORDS : 1;
      for (int record = 0; record < count; record++) {
        Text value = new Text(map == 0 ? new byte[VALUE_BYTES] : new byte[10]);
        records.add(new Rec(new Text(String.format("%04d-%d", record, map)), value));
      }
      harness.publish(ReduceHarness.map(map, 0), List.of(records));
      harness.umbilical.event(ReduceHarness.map(map, 0), Status.SUCCEEDED);
    }
  }

  private static void run(NodeHarness harness, int attempts, int first) throws Exception {
    ExecutorService reducers = Executors.newFixedThreadPool(attempts);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int attempt = 0; attempt < attempts; attempt++) {
        int number = first + attempt;
        running.add(reducers.submit(() -> harness.run(number)));
      }
      for (Future<?> each : running) {
        each.get();
      }
    } finally {
      reducers.shutdownNow();
    }
  }
}
