package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapred.TaskStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.filesystem.ErrnoException;
import org.vas.shuffle.SharedFileSystem;

/** Errors and hangs of the file system: a map is blamed only when its output alone cannot be read. */
@Tag("long")
@Timeout(120)
class FileSystemFaultsTest extends ThreeMaps {
  @ParameterizedTest
  @CsvSource({
      "status, Stale file handle", "open, Permission denied", "read, No space left on device", "read, Disk quota exceeded"})
  void aSickFileSystemFailsTheAttemptAndCostsNoMap(String call, String errno) {
    harness.umbilical.onReport(attempt -> {
      throw new AssertionError("reported " + attempt);
    });
    SharedFileSystem.inject((at, path) -> {
      if (at.equals(call) && path.toString().contains(FIRST.toString())) {
        throw new IOException(path + ": " + errno);
      }
    });
    IOException e = failure();
    assertTrue(e.getMessage().contains(errno), e::getMessage);
    assertTrue(e.getMessage().contains(FIRST.toString()), e::getMessage);
  }

  @ParameterizedTest
  @ValueSource(strings = {"open", "read", "status"})
  void oneOutputThatCannotBeReadIsMadeAgain(String call) throws Exception {
    failWithEio(call, FIRST.toString());
    AtomicInteger reports = runAgainAfterReports(2);
    harness.check();
    assertEquals(2, reports.get());
  }

  @ParameterizedTest
  @ValueSource(strings = {"open", "read", "status"})
  void twoOutputsThatCannotBeReadCostNoMap(String call) {
    harness.umbilical.onReport(attempt -> {
      throw new AssertionError("reported " + attempt);
    });
    failWithEio(call, "attempt_");
    IOException e = failure();
    assertTrue(e.getMessage().contains("the file system is sick"), e::getMessage);
    assertTrue(e.getMessage().contains("Input/output error"), e::getMessage);
  }

  /** Maps 1 and 2 are on the OST that is away: both run again, whatever the errno. */
  @ParameterizedTest
  @CsvSource({"open, 108", "read, 5", "status, 19", "open, 110", "status, 108"})
  void R5_allOutputsOnAnOstThatIsAwayAreMadeAgain(String call, int errno) throws Exception {
    failOn(call, errno, Map.of(1, "OST0001", 2, "OST0001"));
    Set<TaskAttemptID> reported = runEachAgain();
    harness.check();
    assertEquals(Set.of(FIRST, ReduceHarness.map(2, 0)), reported);
    assertEquals(2, harness.counter("VALIDATION_FAILURES"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"open", "read", "status"})
  void R5_outputsOnTwoOstsAtOnceAreASickFileSystem(String call) {
    harness.umbilical.onReport(attempt -> {
      throw new AssertionError("reported " + attempt);
    });
    failOn(call, 108, Map.of(1, "OST0001", 2, "OST0002"));
    IOException e = failure();
    assertTrue(e.getMessage().contains("the file system is sick"), e::getMessage);
    assertTrue(e.getMessage().contains("ESHUTDOWN"), e::getMessage);
    assertTrue(e.getMessage().contains("OST000"), e::getMessage);
  }

  /** The list that shows the mount to be there stats the job's files, one of them on that OST. */
  @Test
  void R5_aJobFileOnThatOstDoesNotMakeTheMountGone() throws Exception {
    AtomicInteger reports = runAgainAfterReports(1);
    SharedFileSystem.inject((at, path) -> {
      if (at.equals("list")
          || (at.equals("open") && path.toString().contains(FIRST.toString()))) {
        throw ostAway(path, 108, "OST0001");
      }
    });
    harness.check();
    assertEquals(1, reports.get());
  }

  /** An output that was made again on the same OST is reported too: its map's attempts bound it. */
  @Test
  void R5_aNewOutputOnTheSameOstIsReportedToo() throws Exception {
    SharedFileSystem.inject((at, path) -> {
      String name = path.toString();
      if (at.equals("open")
          && (name.contains(FIRST.toString()) || name.contains(SECOND.toString()))) {
        throw ostAway(path, 108, "OST0001");
      }
    });
    Set<TaskAttemptID> reported = runEachAgain();
    harness.check();
    assertEquals(Set.of(FIRST, SECOND), reported);
  }

  private static void failOn(String call, int errno, Map<Integer, String> ostsOfMaps) {
    SharedFileSystem.inject((at, path) -> {
      if (at.equals(call) && path.toString().contains("_m_") && path.toString().contains("_0/")) {
        String ost = ostsOfMaps.get(mapOf(path));
        if (ost != null) {
          throw ostAway(path, errno, ost);
        }
      }
    });
  }

  // As the file system of the product tells it: the errno in the cause, in no language.
  private static IOException ostAway(org.apache.hadoop.fs.Path path, int errno, String ost) {
    ErrnoException cause = new ErrnoException(
        Path.of(path.toUri().getPath()), "pread", errno, List.of(ost));
    return new IOException(cause.getMessage(), cause);
  }

  private Set<TaskAttemptID> runEachAgain() {
    Set<TaskAttemptID> reported = ConcurrentHashMap.newKeySet();
    harness.umbilical.onReport(attempt -> {
      if (reported.add(attempt)) {
        runAgain(attempt);
      }
    });
    return reported;
  }

  private void runAgain(TaskAttemptID attempt) {
    int map = attempt.getTaskID().getId();
    TaskAttemptID next = ReduceHarness.map(map, attempt.getId() + 1);
    try {
      harness.publish(next, records(map));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    harness.umbilical.event(attempt, Status.OBSOLETE);
    harness.umbilical.event(next, Status.SUCCEEDED);
  }

  /** What was seen once may be over: nobody is blamed without a second look. */
  @Test
  void anOutputThatCanBeReadAgainIsReadAgain() throws Exception {
    harness.umbilical.onReport(attempt -> {
      throw new AssertionError("reported " + attempt);
    });
    AtomicInteger calls = new AtomicInteger();
    SharedFileSystem.inject((at, path) -> {
      if (at.equals("open") && path.toString().contains(FIRST.toString())
          && calls.incrementAndGet() == 1) {
        throw new IOException(path + ": Input/output error");
      }
    });
    harness.check();
    assertTrue(calls.get() > 1);
  }

  /** Another master's events come from the first on; the same output is no second one. */
  @Test
  void aRestartOfTheMasterMakesNoSecondSuspect() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    SharedFileSystem.inject((at, path) -> {
      if (at.equals("open") && path.toString().contains(FIRST.toString())) {
        if (calls.incrementAndGet() == 1) {
          harness.umbilical.reset();
        }
        throw new IOException(path + ": Input/output error");
      }
    });
    AtomicInteger reports = runAgainAfterReports(2);
    harness.check();
    assertEquals(2, reports.get());
  }

  private static void failWithEio(String call, String part) {
    SharedFileSystem.inject((at, path) -> {
      if (at.equals(call) && path.toString().contains(part)) {
        throw new IOException(path + ": Input/output error");
      }
    });
  }

  @ParameterizedTest
  @ValueSource(strings = {"open", "read", "status", "locate", "list"})
  void whateverAThreadThrowsEndsTheAttempt(String call) throws Exception {
    if (call.equals("list")) {
      Files.delete(harness.file(FIRST, "manifest"));
    }
    SharedFileSystem.inject((at, path) -> {
      if (at.equals(call)) {
        throw new ExceptionInInitializerError("on purpose");
      }
    });
    IOException e = failure();
    assertTrue(e.getMessage().contains("on purpose"), e::getMessage);
  }

  @Test
  void aMountThatIsGoneIsNoBadMap() throws Exception {
    Files.move(harness.shuffleDir().getParent(), dir.resolve("elsewhere"));
    IOException e = failure();
    assertTrue(e.getMessage().contains("cannot be listed"), e::getMessage);
  }

  @ParameterizedTest
  @ValueSource(strings = {"manifest", "packed.mof"})
  void aReadThatHangsFailsTheAttempt(String file) {
    harness.job.set("vas.shuffle.read-timeout", "3s");
    CountDownLatch never = new CountDownLatch(1);
    SharedFileSystem.inject((at, path) -> {
      if (at.equals("open") && path.getName().equals(file)) {
        try {
          never.await();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
    });
    IOException e = failure();
    assertTrue(e.getMessage().contains("vas.shuffle.read-timeout"), e::getMessage);
    assertTrue(e.getMessage().contains("/" + file + ": no answer"), e::getMessage);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anOstThatHangsDoesNotStopTheReadsOfTheOthers(boolean merging) throws Exception {
    ReduceHarness many = new ReduceHarness(dir.resolve("many"), 8);
    many.umbilical.machines(map -> "vm" + map / 4);
    SharedFileSystem.osts(path -> "OST000" + mapOf(path) / 4);
    for (int map = 0; map < 8; map++) {
      many.map(map, List.of(Rec.random(new Random(map), 6000)));
    }
    // Those on the first OST answer when all of the others were read.
    CountDownLatch healed = new CountDownLatch(4);
    Set<Path> seen = ConcurrentHashMap.newKeySet();
    SharedFileSystem.inject((at, path) -> {
      boolean now = merging == many.umbilical.phases().contains(TaskStatus.Phase.SORT);
      if (now && at.equals("read") && path.getName().equals("packed.mof")) {
        if (mapOf(path) < 4) {
          await(healed);
        } else if (seen.add(Path.of(path.toUri().getPath()))) {
          healed.countDown();
        }
      }
    });
    many.check();
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      if (!latch.await(60, TimeUnit.SECONDS)) {
        throw new IOException("the other OST's files are not read: " + latch.getCount() + " left");
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
