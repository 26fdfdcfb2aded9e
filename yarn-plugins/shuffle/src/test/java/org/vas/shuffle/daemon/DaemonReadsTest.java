package org.vas.shuffle.daemon;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.merge.SegmentReads;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentReader;

/** Asks a daemon as a reducer does; the daemon answers what the test wants. */
@Timeout(60)
class DaemonReadsTest {
  private static final SegmentAddress AT =
      new SegmentAddress("node-7", new TaskAttemptID("1", 1, TaskType.MAP, 0, 0), 0);
  private static final byte[] STORED = new byte[200_000];

  @TempDir java.nio.file.Path dir;
  private final JobConf job = new JobConf();

  private final AtomicReference<BlockingDaemon> asking = new AtomicReference<>();

  private IOException checked() {
    try {
      asking.get().reads().check();
      return null;
    } catch (IOException e) {
      return e;
    }
  }

  private BlockingDaemon links(String patience) throws IOException {
    job.set("vas.shuffled.patience", patience);
    return new BlockingDaemon(job, new JobID("1", 1), ModelDaemon.secret());
  }

  /** The daemon reports progress of a check that outlasts the read timeout: no call hangs then. */
  @Test
  void progressOfALongCheckIsPassedOn() throws IOException {
    job.set("vas.shuffle.read-timeout", "1s");
    AtomicReference<IOException> hung = new AtomicReference<>();
    try (ModelDaemon daemon = new ModelDaemon(dir, job, (number, answers) -> {
      for (int i = 0; i < 5 && number == 1; i++) {
        sleep(400);
        answers.working();
        hung.compareAndSet(null, checked());
      }
      answers.serve(STORED, 190_000);
    }); BlockingDaemon links = links("5s")) {
      asking.set(links);
      LookedSegment looked = links.look(AT, true, true);
      assertNull(hung.get());
      Segment segment = looked.segment(0, 0).orElseThrow();
      assertEquals(200_000, segment.storedBytes());
      assertArrayEquals(STORED, links.read(AT, segment, 128 << 10));
      assertEquals(3, daemon.asked(), "one look, two reads");
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
    }); BlockingDaemon links = links("1s")) {
      assertEquals(0, links.look(AT, true, true).held().length);
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
    }); BlockingDaemon links = links("20s")) {
      links.look(AT, true, true);
      assertEquals(3, daemon.asked());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 6})
  void whatWillNotPassIsTakenAtOnce(int refusal) throws IOException {
    try (ModelDaemon daemon = new ModelDaemon(dir, job,
        (number, answers) -> answers.refuse(refusal, "no")); BlockingDaemon links = links("20s")) {
      RefusedException e = assertThrows(RefusedException.class,
          () -> links.look(AT, true, true));
      assertEquals(DaemonRefusal.of(refusal), e.refusal());
      assertEquals(1, daemon.asked());
    }
  }

  @Test
  void aDaemonThatIsSilentIsACallThatHangs() throws IOException {
    job.set("vas.shuffle.read-timeout", "1s");
    CountDownLatch over = new CountDownLatch(1);
    try (ModelDaemon daemon = new ModelDaemon(dir, job, (number, answers) -> await(over));
        BlockingDaemon links = links("20s")) {
      links.reads().look(AT, "node-7", true, true, (looked, cause) -> {});
      IOException hung = null;
      while (hung == null) {
        sleep(10);
        asking.set(links);
        hung = checked();
      }
      assertTrue(hung.getMessage().contains("no answer for 1000 ms"), hung.getMessage());
      assertEquals(1, daemon.asked());
    } finally {
      over.countDown();
    }
  }

  /** One node is silent, and the others' outputs are looked at all the same, by the one thread. */
  @Test
  void aNodeThatIsSilentStopsItsOwnAnswersOnly() throws IOException {
    CountDownLatch over = new CountDownLatch(1);
    AtomicInteger silent = new AtomicInteger();
    try (ModelDaemon daemon = new ModelDaemon(dir, job, (number, answers) -> {
      if (answers.attempt() == 7) {
        silent.incrementAndGet();
        await(over);
      }
      answers.serve(STORED, 190_000);
    }); BlockingDaemon links = links("20s")) {
      TaskAttemptID seventh = new TaskAttemptID("1", 1, TaskType.MAP, 0, 7);
      for (int i = 0; i < 50; i++) {
        links.reads().look(new SegmentAddress("node-1", seventh, 0), "node-1", true, true,
            (looked, cause) -> {});
      }
      for (int i = 0; i < 20; i++) {
        assertTrue(links.look(AT, true, true).isHeldRight());
      }
      assertTrue(silent.get() <= 3, "requests to the silent node at once: " + silent);
      assertEquals(20, daemon.asked() - silent.get());
    } finally {
      over.countDown();
    }
  }

  /** Local files may be read one after the other for long, and answers of nodes are taken in between. */
  @Test
  void localReadsDoNotKeepAnswersWaiting() throws IOException {
    AtomicBoolean answered = new AtomicBoolean();
    try (ModelDaemon daemon = new ModelDaemon(dir, job,
        (number, answers) -> answers.serve(STORED, 190_000)); BlockingDaemon links = links("20s")) {
      Segment segment = links.look(AT, false, true).segment(0, 0).orElseThrow();
      SegmentFile pass = new SegmentFile(new Path("file:/pass"), segment, "local");
      links.reads().fill(pass, new Again(links.reads(), pass, answered));
      assertEquals(200_000, links.look(AT, false, true).segment(0, 0).orElseThrow().storedBytes());
      assertEquals(2, daemon.asked());
    } finally {
      answered.set(true);
    }
  }

  /** A read of a local file; each read starts another when it ends, until the test is over. */
  private static final class Again implements SegmentReads.Fill {
    private final DaemonReads reads;
    private final SegmentFile file;
    private final AtomicBoolean over;

    private Again(DaemonReads reads, SegmentFile file, AtomicBoolean over) {
      this.reads = reads;
      this.file = file;
      this.over = over;
    }

    @Override
    public SegmentReader reader() {
      throw new AssertionError("a read that refused to begin went on");
    }

    @Override
    public byte[] buffer() {
      throw new AssertionError("a read that refused to begin went on");
    }

    @Override
    public boolean begin() {
      return false;
    }

    @Override
    public void end(int length, Throwable failure) {
      if (!over.get()) {
        reads.fill(file, this);
      }
    }
  }

  /** The end of a task fails what is on its way, and leaves no thread. */
  @Test
  void theEndFailsWhatIsOnItsWay() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    CountDownLatch asked = new CountDownLatch(1);
    CompletableFuture<Throwable> failed = new CompletableFuture<>();
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    try (ModelDaemon daemon = new ModelDaemon(dir, job, (number, answers) -> {
      asked.countDown();
      await(over);
    }); BlockingDaemon links = links("20s")) {
      links.reads().look(AT, "node-7", true, true, (looked, cause) -> {
        thread.complete(Thread.currentThread());
        failed.complete(cause);
      });
      asked.await();
      links.reads().close();
      assertEquals("the task is ending", failed.get().getMessage());
      thread.get().join(10_000);
      assertFalse(thread.get().isAlive());
      assertEquals(1, daemon.asked());
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

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
