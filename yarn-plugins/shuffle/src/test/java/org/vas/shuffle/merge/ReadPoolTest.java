package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

@Timeout(60)
class ReadPoolTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final AtomicLong clock = new AtomicLong();
  private final ReadPool pool = new ReadPool(SECOND, clock::get);
  private final CountDownLatch healed = new CountDownLatch(1);

  @AfterEach
  void end() {
    healed.countDown();
    pool.close();
    SharedFileSystem.heal();
  }

  private void hang() {
    try {
      healed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void anOstThatHangsDoesNotStopTheOthers() throws Exception {
    AtomicInteger hanging = new AtomicInteger();
    for (int i = 0; i < 20; i++) {
      pool.submit("ost0", watch -> {
        hanging.incrementAndGet();
        hang();
      });
    }
    CountDownLatch others = new CountDownLatch(40);
    for (int i = 0; i < 40; i++) {
      pool.submit("ost" + (1 + i % 2), watch -> others.countDown());
    }
    others.await();
    assertTrue(hanging.get() < 4, () -> hanging + " of 4 threads hang at one OST");
  }

  @Test
  void queuesTakeTurns() throws Exception {
    // Every thread but the last hangs, so that one does the rest, in its order.
    CountDownLatch taken = new CountDownLatch(3);
    for (int i = 0; i < 3; i++) {
      pool.submit("hung" + i, watch -> {
        taken.countDown();
        hang();
      });
    }
    taken.await();
    Semaphore go = new Semaphore(0);
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch done = new CountDownLatch(7);
    pool.submit("first", watch -> {
      go.acquireUninterruptibly();
      done.countDown();
    });
    for (String ost : List.of("a", "a", "a", "b", "b", "c")) {
      pool.submit(ost, watch -> {
        order.add(ost);
        done.countDown();
      });
    }
    go.release();
    done.await();
    assertEquals(List.of("a", "b", "c", "a", "b", "a"), order);
  }

  @Test
  void eachSingleCallMayTakeTheTimeout() throws Exception {
    Semaphore step = new Semaphore(0);
    Semaphore stepped = new Semaphore(0);
    pool.submit("ost", watch -> {
      for (int call = 0; call < 3; call++) {
        watch.calling(new Path("/file" + call));
        stepped.release();
        step.acquireUninterruptibly();
      }
    });
    for (int call = 0; call < 3; call++) {
      stepped.acquire();
      clock.addAndGet(SECOND.toNanos());
      pool.check();
      step.release(call < 2 ? 1 : 0);
    }
    clock.incrementAndGet();
    IOException e = assertThrows(IOException.class, pool::check);
    assertTrue(e.getMessage().startsWith("/file2: no answer for 1000 ms"), e::getMessage);
    step.release();
  }

  @Test
  void whatAThreadThrowsReachesThoseWhoWaitAndTheThreadGoesOn() throws Exception {
    for (int i = 0; i < 8; i++) {
      pool.submit("ost", watch -> {
        throw new AssertionError("on purpose");
      });
    }
    CountDownLatch after = new CountDownLatch(1);
    pool.submit("ost", watch -> after.countDown());
    after.await();
    IOException e = assertThrows(IOException.class, pool::check);
    assertTrue(e.getMessage().contains("on purpose"), e::getMessage);
    assertEquals(AssertionError.class, e.getCause().getClass());
  }

  @Test
  void anErrorInAReadReachesTheMerge() {
    RawLocalFileSystem broken = new RawLocalFileSystem() {
      @Override
      public FSDataInputStream open(Path file, int bufferSize) {
        throw new NoClassDefFoundError("on purpose");
      }
    };
    broken.setConf(new Configuration(false));
    SegmentFile source =
        new SegmentFile(new Path("/x"), new Segment(0, 0, 0, 0, 9, 5, 1, 7), "ost");
    ReadAhead chunks = new ReadAhead(broken, source, ReadMeter.NONE, pool, () -> {}, 64 << 10);
    chunks.request();
    IOException e = assertThrows(IOException.class, chunks::next);
    assertTrue(e.getMessage().contains("NoClassDefFoundError: on purpose"), e::getMessage);
  }

  /** Requests that wait are dropped when the pool ends: nobody else would close their files. */
  @Test
  void aFileIsClosedThoughItsNextReadNeverGetsAThread(@TempDir java.nio.file.Path directory)
      throws Exception {
    ReadAhead chunks = readAhead(directory, 3);
    chunks.request();
    assertTrue(chunks.next());

    CountDownLatch hanging = new CountDownLatch(3);
    for (int i = 0; i < 3; i++) {
      pool.submit("ost", watch -> {
        hanging.countDown();
        hang();
      });
    }
    hanging.await();
    assertTrue(chunks.next(), "read before the threads of this OST hang");
    assertEquals(1, SharedFileSystem.openStreams());
    chunks.close();
    assertEquals(0, SharedFileSystem.openStreams());
  }

  /** The file belongs to the thread that reads it until its call returns. */
  @Test
  void aFileThatIsBeingReadIsClosedWhenItsReadReturns(@TempDir java.nio.file.Path directory)
      throws Exception {
    ReadAhead chunks = readAhead(directory, 1);
    CountDownLatch reading = new CountDownLatch(1);
    SharedFileSystem.inject((call, path) -> {
      if (call.equals("read")) {
        reading.countDown();
        hang();
      }
    });
    chunks.request();
    reading.await();
    chunks.close();
    assertEquals(1, SharedFileSystem.openStreams());
    healed.countDown();
    SharedFileSystem.awaitNoOpenStream();
  }

  private ReadAhead readAhead(java.nio.file.Path directory, int chunks) throws IOException {
    byte[] chunk = new byte[Segment.CHECKSUM_BYTES];
    CRC32C crc = new CRC32C();
    crc.update(chunk);
    int[] sums = new int[chunks];
    Arrays.fill(sums, (int) crc.getValue());
    long bytes = (long) chunks * chunk.length;
    java.nio.file.Path file =
        Files.write(directory.resolve("packed.mof"), new byte[Math.toIntExact(bytes)]);
    SharedFileSystem.heal();
    SharedFileSystem files = new SharedFileSystem();
    files.initialize(files.getUri(), new Configuration(false));
    SegmentFile source = new SegmentFile(
        new Path(file.toString()), new Segment(0, 0, 0, 0, bytes, bytes, 1, sums), "ost");
    return new ReadAhead(files, source, ReadMeter.NONE, pool, () -> {}, chunk.length);
  }
}
