package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
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

/** Runs a whole reducer whose daemon merges wrongly, does not end, or does not merge. */
@Timeout(60)
class MergedWireTest {
  private static final int RECORDS = 4000;
  private static final int BLOCK = 50_000;
  private static final int READY = 11;
  private static final int MERGING = 12;

  @TempDir Path dir;
  private ReduceHarness harness;
  private byte[] odd;
  private byte[] even;
  private byte[] merged;

  /** Sends the stream behind its first bytes, or does it wrongly. */
  @FunctionalInterface
  private interface Delivers {
    void all(ModelDaemon.Answers answers, int skip) throws IOException;
  }

  @BeforeEach
  void twoMaps() throws IOException {
    harness = new ReduceHarness(dir, 2);
    harness.job.unset("mapreduce.job.map.output.collector.class");
    harness.job.setClass(
        MRConfig.SHUFFLE_CONSUMER_PLUGIN, NodeMerge.class, ShuffleConsumerPlugin.class);
    harness.job.set("vas.shuffled.patience", "5s");
    harness.job.set("vas.shuffled.delivery", "merged");
    harness.umbilical.event(ReduceHarness.map(0, 0), Status.SUCCEEDED);
    harness.umbilical.event(ReduceHarness.map(1, 0), Status.SUCCEEDED);
    odd = stream(1, 2);
    even = stream(0, 2);
    byte[] whole = stream(0, 1);
    merged = Arrays.copyOf(whole, whole.length - 4);
  }

  private byte[] stream(int first, int step) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    IFile.Writer<Text, Text> writer = new IFile.Writer<>(
        harness.job, new FSDataOutputStream(bytes, null), Text.class, Text.class, null, null);
    for (int record = first; record < RECORDS; record += step) {
      writer.append(new Text(String.format("%06d", record)), new Text("v".repeat(60)));
    }
    writer.close();
    return bytes.toByteArray();
  }

  private ModelDaemon.Script script(Delivers stream) {
    List<Long> skips = new ArrayList<>();
    AtomicInteger segments = new AtomicInteger();
    return (number, answers) -> {
      if (answers.kind() == 9) {
        skips.add(answers.number(19));
        segments.set(0);
        answers.say(READY, new byte[0]);
      } else if (answers.kind() == 10) {
        if (segments.incrementAndGet() == 2) {
          answers.say(MERGING, new byte[0]);
          stream.all(answers, (int) (long) skips.get(skips.size() - 1));
        }
      } else {
        byte[] stored = answers.map() == 0 ? even : odd;
        answers.serve(stored, stored.length - 4);
      }
    };
  }

  // Sums over all bytes from the first; sends those from skip up to end.
  private void blocks(ModelDaemon.Answers answers, byte[] sums, byte[] bytes, int skip, int end)
      throws IOException {
    CRC32C crc = new CRC32C();
    crc.update(sums, 0, skip);
    for (int at = skip; at < end; at += BLOCK) {
      int length = Math.min(BLOCK, end - at);
      crc.update(sums, at, length);
      answers.say(13, ByteBuffer.allocate(8).putInt(length).putInt((int) crc.getValue()).array());
      answers.send(bytes, at, length);
    }
  }

  private void end(ModelDaemon.Answers answers, int less) throws IOException {
    answers.say(14, ByteBuffer.allocate(16).putLong(RECORDS).putLong(merged.length - 2 - less).array());
  }

  // The old interface wraps what the iterator throws.
  private IOException failure() {
    Throwable thrown = assertThrows(Exception.class, harness::run);
    return (IOException) (thrown instanceof IOException ? thrown : thrown.getCause());
  }

  @Test
  void whatIsSaidRightIsBelieved() throws Exception {
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job, script((answers, skip) -> {
      answers.working();
      blocks(answers, merged, merged, skip, merged.length);
      end(answers, 0);
    }))) {
      assertEquals(RECORDS, harness.run().size());
      assertTrue(daemon.asked() > 4);
    }
  }

  @Test
  void aBitThatFlipsInTheStreamFailsTheAttempt() throws Exception {
    Random random = new Random(6);
    for (int round = 0; round < 8; round++) {
      byte[] wrong = merged.clone();
      wrong[random.nextInt(wrong.length)] ^= (byte) (1 << random.nextInt(8));
      try (ModelDaemon daemon = new ModelDaemon(dir.resolve("" + round), harness.job,
          script((answers, skip) -> {
            blocks(answers, merged, wrong, skip, merged.length);
            end(answers, 0);
          }))) {
        IOException e = failure();
        assertTrue(e.getMessage().contains("wrong checksum of the merged records"), e::getMessage);
        assertTrue(e.getMessage().contains("vas.shuffled.delivery=segments"), e::getMessage);
        assertTrue(daemon.asked() > 4);
      }
    }
  }

  @Test
  void nonsenseIsNotAskedForAgain() throws Exception {
    AtomicInteger merges = new AtomicInteger();
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job, script((answers, skip) -> {
      merges.incrementAndGet();
      blocks(answers, merged, merged, skip, BLOCK);
      answers.say(13, new byte[8]);
    }))) {
      IOException e = failure();
      assertTrue(e.getMessage().contains("a block of 0 bytes"), e::getMessage);
      assertEquals(1, merges.get());
      assertTrue(daemon.asked() > 4);
    }
  }

  /** Wherever it breaks, the rest is asked for, and nothing comes twice. */
  @Test
  void aConnectionThatBreaksIsMadeAgainBehindWhatCame() throws Exception {
    AtomicInteger cut = new AtomicInteger();
    List<Integer> skips = new ArrayList<>();
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job, script((answers, skip) -> {
      skips.add(skip);
      int round = cut.incrementAndGet();
      int last = round <= 3 ? Math.min(merged.length, skip + BLOCK) : merged.length;
      blocks(answers, merged, merged, skip, last);
      if (round <= 4) {
        throw new EOFException("this daemon ends the connection");
      }
      end(answers, 0);
    }))) {
      assertEquals(RECORDS, harness.run().size());
      assertEquals(List.of(0, BLOCK, 2 * BLOCK, 3 * BLOCK, merged.length), skips);
      assertTrue(daemon.asked() > 4);
    }
  }

  @Test
  void anEndThatComesEarlyOrSaysOtherwiseIsNoEnd() throws Exception {
    try (ModelDaemon daemon = new ModelDaemon(dir.resolve("1"), harness.job, script((answers, skip) -> {
      blocks(answers, merged, merged, skip, 2 * BLOCK);
      end(answers, 0);
    }))) {
      IOException e = failure();
      assertTrue(e.getMessage().contains(2 * BLOCK + " came of " + merged.length), e::getMessage);
      assertTrue(daemon.asked() > 4);
    }
    try (ModelDaemon daemon = new ModelDaemon(dir.resolve("2"), harness.job, script((answers, skip) -> {
      blocks(answers, merged, merged, skip, merged.length);
      end(answers, 1);
    }))) {
      IOException e = failure();
      assertTrue(e.getMessage().contains("the daemon merged " + RECORDS + " records"), e::getMessage);
      assertTrue(daemon.asked() > 4);
    }
  }

  @Test
  void aMapThatIsLostAmidTheMergeFailsTheAttemptAndIsNamed() throws Exception {
    String text = ReduceHarness.map(1, 0) + ": wrong checksum at offset 65536";
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job, script((answers, skip) -> {
      blocks(answers, merged, merged, skip, BLOCK);
      answers.refuse(3, text);
    }))) {
      IOException e = failure();
      assertEquals(text, e.getMessage());
      assertTrue(daemon.asked() > 4);
    }
  }

  @Test
  void aStreamThatStallsFailsTheAttempt() throws Exception {
    harness.job.set("vas.shuffle.read-timeout", "1s");
    CountDownLatch over = new CountDownLatch(1);
    try (ModelDaemon daemon = new ModelDaemon(dir, harness.job, script((answers, skip) -> {
      blocks(answers, merged, merged, skip, BLOCK);
      try {
        over.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }))) {
      IOException e = failure();
      assertTrue(e.getMessage().contains("no answer for 1000 ms"), e::getMessage);
      assertTrue(daemon.asked() > 4);
    } finally {
      over.countDown();
    }
  }

  private void fallsBack(ModelDaemon daemon, String why) throws Exception {
    try (LogLines log = new LogLines(NodeMedium.class); daemon) {
      assertEquals(RECORDS, harness.run().size());
      assertTrue(log.toString().contains("The daemon gives segments, and does not merge: " + why),
          log::toString);
    }
  }

  @Test
  void aDaemonThatDeclinesGivesSegments() throws Exception {
    ModelDaemon.Script right = script((answers, skip) -> {
      throw new AssertionError("it declines before");
    });
    fallsBack(new ModelDaemon(dir, harness.job, (number, answers) -> {
      if (answers.kind() == 9) {
        answers.refuse(8, "another job's turn");
      } else {
        right.answer(number, answers);
      }
    }), "another job's turn");
  }

  @Test
  void anOlderDaemonGivesSegments() throws Exception {
    ModelDaemon.Script right = script((answers, skip) -> {
      throw new AssertionError("it knows no merges");
    });
    fallsBack(new ModelDaemon(dir, harness.job, right).oldest(),
        "this node's vas-shuffled is of a version that does not merge");
  }
}
