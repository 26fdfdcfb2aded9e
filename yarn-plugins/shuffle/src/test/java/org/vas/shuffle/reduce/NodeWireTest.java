package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.MRConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.daemon.ModelDaemon;

/** Runs a whole reducer with answers that its daemon got wrong, or does not end. */
@Timeout(60)
class NodeWireTest {
  private static final int RECORDS = 5000;

  @TempDir Path dir;
  private ReduceHarness harness;
  private byte[] large;
  private byte[] small;

  @BeforeEach
  void twoMaps() throws IOException {
    harness = new ReduceHarness(dir, 2);
    harness.job.unset("mapreduce.job.map.output.collector.class");
    harness.job.setClass(
        MRConfig.SHUFFLE_CONSUMER_PLUGIN, NodeMerge.class, ShuffleConsumerPlugin.class);
    harness.job.set("vas.shuffled.patience", "5s");
    harness.umbilical.event(ReduceHarness.map(0, 0), Status.SUCCEEDED);
    harness.umbilical.event(ReduceHarness.map(1, 0), Status.SUCCEEDED);
    large = segment(RECORDS, 200);
    small = segment(100, 10);
  }

  private byte[] segment(int records, int valueBytes) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    IFile.Writer<Text, Text> writer = new IFile.Writer<>(
        harness.job, new FSDataOutputStream(bytes, null), Text.class, Text.class, null, null);
    for (int record = 0; record < records; record++) {
      writer.append(new Text(String.format("%06d", record)), new Text("v".repeat(valueBytes)));
    }
    writer.close();
    return bytes.toByteArray();
  }

  private byte[] stored(ModelDaemon.Answers answers) {
    return answers.map() == 0 ? large : small;
  }

  private void serve(ModelDaemon.Answers answers, byte[] bytes) throws IOException {
    answers.serve(bytes, bytes.length - 4);
  }

  // The old interface wraps what the iterator throws.
  private IOException failure() {
    Throwable thrown = assertThrows(Exception.class, harness::run);
    return (IOException) (thrown instanceof IOException ? thrown : thrown.getCause());
  }

  /** Any bit of any answer: the sums came with the look. */
  @Test
  void aBitThatFlipsOnTheWayFailsTheAttempt() throws Exception {
    Random random = new Random(4);
    for (int round = 0; round < 10; round++) {
      int at = random.nextInt(large.length);
      byte[] wrong = large.clone();
      wrong[at] = (byte) (wrong[at] ^ 1 << random.nextInt(8));
      try (ModelDaemon daemon = new ModelDaemon(dir.resolve("" + round), harness.job,
          (number, answers) -> serve(answers,
              answers.isRead() && answers.map() == 0 ? wrong : stored(answers)))) {
        IOException e = failure();
        assertTrue(e.getMessage().contains("wrong checksum at offset"), e::getMessage);
        assertTrue(e.getMessage().contains(ReduceHarness.map(0, 0).toString()), e::getMessage);
        assertTrue(daemon.asked() > 2);
      }
    }
  }

  /** Nothing is merged yet, so the map's output is asked for again by its next attempt. */
  @Test
  void aBitThatFlipsInBytesOfALookIsReported() throws Exception {
    AtomicInteger reports = new AtomicInteger();
    harness.umbilical.onReport(attempt -> {
      assertEquals(ReduceHarness.map(1, 0), attempt);
      if (reports.incrementAndGet() == 1) {
        harness.umbilical.event(attempt, Status.OBSOLETE);
        harness.umbilical.event(ReduceHarness.map(1, 1), Status.SUCCEEDED);
      }
    });
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job, (number, answers) -> {
      if (answers.map() == 1 && answers.attempt() == 0) {
        answers.serveWrong(small, small.length - 4, small.length / 2);
      } else {
        serve(answers, stored(answers));
      }
    })) {
      assertEquals(RECORDS, harness.run().size());
      assertTrue(reports.get() >= 1 && daemon.asked() > 3);
    }
  }

  @Test
  void anAnswerThatEndsEarlyIsAskedForAgain() throws Exception {
    AtomicInteger cut = new AtomicInteger();
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job, (number, answers) -> {
      if (answers.isRead() && cut.incrementAndGet() % 3 == 1) {
        answers.serveHalf(stored(answers));
        throw new EOFException("this daemon ends the connection");
      }
      serve(answers, stored(answers));
    })) {
      assertEquals(RECORDS, harness.run().size());
      assertTrue(cut.get() > 3, "reads of " + daemon.asked());
    }
  }

  @Test
  void anAnswerThatStallsFailsTheAttempt() throws Exception {
    harness.job.set("vas.shuffle.read-timeout", "1s");
    CountDownLatch over = new CountDownLatch(1);
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job, (number, answers) -> {
      if (answers.isRead()) {
        answers.serveHalf(stored(answers));
        await(over);
      }
      serve(answers, stored(answers));
    })) {
      IOException e = failure();
      assertTrue(e.getMessage().contains("no answer for 1000 ms"), e::getMessage);
      assertTrue(daemon.asked() > 2);
    } finally {
      over.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
