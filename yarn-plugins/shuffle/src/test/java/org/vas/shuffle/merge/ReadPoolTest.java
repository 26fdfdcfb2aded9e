package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
}
