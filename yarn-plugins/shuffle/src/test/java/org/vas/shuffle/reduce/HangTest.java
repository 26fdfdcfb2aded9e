package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * When code of the job never returns, the attempt's heartbeats must say that nothing moves, or
 * mapreduce.task.timeout never ends it.
 */
@Timeout(120)
class HangTest {
  // One each 100 ms. Our waits look once a second, and tell of what had moved until then.
  private static final int PINGS_BEFORE = 20;
  private static final int PINGS = 35;
  private static final int CALLS_BEFORE = 1000;

  @TempDir Path dir;

  /** Makes a harness on the medium of this class. */
  ReduceHarness harness(Path at, int maps) throws IOException {
    return new ReduceHarness(at, maps);
  }

  /** Where the code of the job stops; each test makes its own. */
  private static final class Stop {
    private static volatile CountDownLatch reached = new CountDownLatch(CALLS_BEFORE);
    private static volatile CountDownLatch released = new CountDownLatch(1);

    private Stop() {}

    static void prepare() {
      reached = new CountDownLatch(CALLS_BEFORE);
      released = new CountDownLatch(1);
    }

    static void here() {
      reached.countDown();
      if (reached.getCount() == 0) {
        try {
          released.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /** A comparator that never returns from some call on. */
  public static final class Stopping extends Text.Comparator {
    @Override
    public int compare(byte[] left, int leftOffset, int leftLength,
        byte[] right, int rightOffset, int rightLength) {
      Stop.here();
      return super.compare(left, leftOffset, leftLength, right, rightOffset, rightLength);
    }
  }

  /** A codec that never returns from some call on. */
  public static final class StoppingCodec extends DefaultCodec {
    @Override
    public CompressionInputStream createInputStream(InputStream in, Decompressor decompressor)
        throws IOException {
      CompressionInputStream inflated = super.createInputStream(in, decompressor);
      return new CompressionInputStream(inflated) {
        @Override
        public int read() throws IOException {
          return inflated.read();
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
          Stop.here();
          return inflated.read(bytes, offset, Math.min(length, 20));
        }

        @Override
        public void resetState() throws IOException {
          inflated.resetState();
        }
      };
    }
  }

  @ParameterizedTest
  @CsvSource({"comparator, on, false", "comparator, auto, false", "comparator, auto, true",
      "codec, on, false", "codec, auto, false", "codec, auto, true"})
  void H2_codeThatNeverReturnsMakesNoProgress(String what, String thread, boolean passes)
      throws Exception {
    Stop.prepare();
    ReduceHarness harness = made(what, thread, passes);
    FutureTask<List<String>> attempt = new FutureTask<>(harness::run);
    Thread reduce = new Thread(attempt, "reduce");
    reduce.start();
    assertTrue(Stop.reached.await(60, TimeUnit.SECONDS), "the code of the job was not reached");
    try {
      await(harness, PINGS_BEFORE);
      int before = harness.umbilical.progress();
      await(harness, PINGS);
      assertEquals(before, harness.umbilical.progress(), "heartbeats that say something moved");
    } finally {
      Stop.released.countDown();
    }
    assertEquals(harness.expected(), attempt.get(60, TimeUnit.SECONDS));
    reduce.join();
  }

  private ReduceHarness made(String what, String thread, boolean passes) throws IOException {
    ReduceHarness harness = harness(dir, 8);
    harness.job.set("vas.shuffle.merge-thread", thread);
    if (passes) {
      harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 200 << 10);
    }
    if (what.equals("codec")) {
      harness.job.setCompressMapOutput(true);
      harness.job.setMapOutputCompressorClass(StoppingCodec.class);
      harness.job.set("vas.shuffle.codec-memory", "0");
    }
    for (int map = 0; map < 8; map++) {
      harness.map(map, List.of(Rec.random(new Random(map), 4000)));
    }
    if (what.equals("comparator")) {
      harness.job.setOutputKeyComparatorClass(Stopping.class);
    }
    return harness;
  }

  private static void await(ReduceHarness harness, int more) {
    int wanted = harness.umbilical.pings() + more;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (harness.umbilical.pings() < wanted) {
      assertTrue(System.nanoTime() < deadline, () -> harness.umbilical.pings() + " pings, "
          + harness.umbilical.progress() + " with progress");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }
}
