package org.vas.shuffle.daemon;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a reducer asks its daemon, which here says what the test wants. */
@Timeout(60)
class DaemonLinksTest {
  private static final SegmentAddress AT =
      new SegmentAddress("node-7", new TaskAttemptID("1", 1, TaskType.MAP, 0, 0), 0);
  private static final byte[] STORED = new byte[200_000];

  @TempDir Path dir;
  private final JobConf job = new JobConf();

  private DaemonLinks links(String patience) {
    job.set("vas.shuffled.patience", patience);
    return new DaemonLinks(job, new JobID("1", 1), ModelDaemon.secret());
  }

  @Test
  void progressOfALongCheckIsPassedOn() throws IOException {
    AtomicInteger signs = new AtomicInteger();
    try (ModelDaemon daemon = new ModelDaemon(dir, job, (number, answers) -> {
      for (int i = 0; i < 5; i++) {
        answers.working();
      }
      answers.serve(STORED, 190_000);
    }); DaemonLinks links = links("5s")) {
      LookedSegment looked = links.look(AT, true, true, signs::incrementAndGet);
      assertEquals(200_000, looked.segment(0, 0).orElseThrow().storedBytes());
      assertEquals(6, signs.get(), "one for the try, five for the progress");
      byte[] piece = new byte[1000];
      links.read(AT, 1000, piece, 0, piece.length);
      assertArrayEquals(new byte[1000], piece);
      assertEquals(2, daemon.asked());
    }
  }

  /** A connection that died is found out after longer than the patience, and says nothing of the node. */
  @Test
  void aFailureThatTookLongerThanThePatienceIsTriedAgain() throws IOException {
    try (ModelDaemon daemon = new ModelDaemon(dir, job, (number, answers) -> {
      if (number == 1) {
        sleep(1200);
        answers.refuse(5, "no sign of progress");
      } else {
        answers.serve(STORED, 190_000);
      }
    }); DaemonLinks links = links("1s")) {
      assertEquals(0, links.look(AT, true, true, () -> {}).held().length);
      assertEquals(2, daemon.asked());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 7, 8})
  void whatMayPassIsAskedAgain(int refusal) throws IOException {
    try (ModelDaemon daemon = new ModelDaemon(dir, job, (number, answers) -> {
      if (number < 3) {
        answers.refuse(refusal, "later");
      } else {
        answers.serve(STORED, 190_000);
      }
    }); DaemonLinks links = links("20s")) {
      links.look(AT, true, true, () -> {});
      assertEquals(3, daemon.asked());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 6})
  void whatWillNotPassIsTakenAtOnce(int refusal) throws IOException {
    try (ModelDaemon daemon = new ModelDaemon(dir, job,
        (number, answers) -> answers.refuse(refusal, "no")); DaemonLinks links = links("20s")) {
      RefusedException e = assertThrows(RefusedException.class,
          () -> links.look(AT, true, true, () -> {}));
      assertEquals(DaemonRefusal.of(refusal), e.refusal());
      assertEquals(1, daemon.asked());
    }
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
