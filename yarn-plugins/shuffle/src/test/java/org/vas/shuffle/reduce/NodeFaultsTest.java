package org.vas.shuffle.reduce;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs a whole reducer and the real daemon through faults that only the node medium has. */
@Tag("long")
class NodeFaultsTest extends ThreeMaps {
  private static final String NO_SPACE = "No space left on device";

  private static final AtomicInteger UNTIL_HOOK = new AtomicInteger();
  private static volatile Runnable hook = () -> {};

  final Media media = new Media();

  @Override
  ReduceHarness harness(Path at, int maps) throws IOException {
    return media.onNode(at, maps);
  }

  /** Notes what it gets, and does something in the middle. */
  public static final class Hooked extends Reducers.Noting {
    @Override
    public void reduce(Writable key, Iterator<Writable> values,
        OutputCollector<NullWritable, NullWritable> out, Reporter reporter) {
      if (UNTIL_HOOK.decrementAndGet() == 0) {
        hook.run();
      }
      super.reduce(key, values, out, reporter);
    }
  }

  @BeforeEach
  void hooks() {
    harness.job.setReducerClass(Hooked.class);
    UNTIL_HOOK.set(0);
  }

  @AfterEach
  void end() {
    hook = () -> {};
    media.close();
  }

  private NodeHarness node() {
    return (NodeHarness) harness;
  }

  /** Kills the daemon as soon as it runs. */
  private void kill() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (node().daemon.kill() == 0) {
      assertTrue(System.nanoTime() < deadline, "the daemon never ran");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  @Test
  void aDaemonThatIsKilledAmidTheMergeIsAskedAgain() throws Exception {
    AtomicInteger kills = new AtomicInteger();
    hook = () -> {
      kill();
      UNTIL_HOOK.set(kills.incrementAndGet() < 3 ? 1500 : 0);
    };
    UNTIL_HOOK.set(100);
    harness.check();
    assertEquals(3, kills.get());
  }

  @Test
  void aDaemonThatIsKilledBeforeTheLooksIsAskedAgainAndNoMapIsReported() throws Exception {
    harness.umbilical.onReport(attempt -> {
      throw new AssertionError("reported " + attempt);
    });
    kill();
    harness.check();
  }

  /** The map's node has checked it, so the damage came later: the JVM's own sums find it. */
  @Test
  void aBitThatFlipsAmidTheMergeFailsTheAttemptAndIsReportedByTheNext() throws Exception {
    hook = () -> change(bytes -> {
      bytes[bytes.length - 1000] ^= 1;
      return bytes;
    });
    UNTIL_HOOK.set(100);
    IOException e = failure();
    assertTrue(e.getMessage().contains("wrong checksum at offset"), e::getMessage);
    assertTrue(e.getMessage().contains(FIRST.toString()), e::getMessage);
    AtomicInteger reports = runAgainAfterReports(1);
    harness.checkAttempt(1);
    assertEquals(1, reports.get());
  }

  @Test
  void anOutputThatShrinksAmidTheMergeFailsTheAttemptAndIsReportedByTheNext() throws Exception {
    hook = () -> change(bytes -> Arrays.copyOf(bytes, bytes.length - 1000));
    UNTIL_HOOK.set(100);
    IOException e = failure();
    assertTrue(e.getMessage().contains(FIRST.toString()), e::getMessage);
    AtomicInteger reports = runAgainAfterReports(1);
    harness.checkAttempt(1);
    assertEquals(1, reports.get());
  }

  /** A change of a file's bytes. */
  @FunctionalInterface
  private interface Change {
    byte[] of(byte[] bytes);
  }

  // In place, and never empty between: the daemon has the file open, and may read at any time.
  private void change(Change change) {
    try (FileChannel data =
        FileChannel.open(harness.file(FIRST, "packed.mof"), READ, WRITE)) {
      ByteBuffer whole = ByteBuffer.allocate((int) data.size());
      while (whole.hasRemaining() && data.read(whole) >= 0) {}
      byte[] changed = change.of(whole.array());
      data.truncate(changed.length);
      data.write(ByteBuffer.wrap(changed), 0);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"packed.mof", "manifest", "directory", "another user's"})
  void whatIsNotTheJobsOwnFileIsReportedUntilItsMapHasRunAgain(String what) throws Exception {
    Path file = harness.file(FIRST, what.equals("manifest") ? what : "packed.mof");
    if (what.equals("another user's")) {
      assumeTrue(Files.getAttribute(file, "unix:uid").equals(0), "only root gives files away");
      Files.setAttribute(file, "unix:uid", 54321);
    } else {
      Path linked = what.equals("directory") ? file.getParent() : file;
      Path away = dir.resolve("away");
      Files.move(linked, away);
      Files.createSymbolicLink(linked, away);
    }
    AtomicInteger reports = runAgainAfterReports(1);
    harness.check();
    assertTrue(reports.get() >= 1);
  }

  /** A local disk that becomes full while passes are written. */
  public static final class FullDisk extends LocalFileSystem {
    public FullDisk() {
      super(new FullRawDisk());
    }
  }

  private static final class FullRawDisk extends RawLocalFileSystem {
    private static final int ROOM = 10_000;

    @Override
    public FSDataOutputStream createNonRecursive(org.apache.hadoop.fs.Path file,
        FsPermission permission, EnumSet<CreateFlag> flags, int bufferBytes, short replication,
        long blockBytes, Progressable progress) throws IOException {
      FSDataOutputStream whole = super.createNonRecursive(
          file, permission, flags, bufferBytes, replication, blockBytes, progress);
      return file.getName().startsWith("pass-")
          ? new FSDataOutputStream(new Filling(whole), null) : whole;
    }

    private static final class Filling extends FilterOutputStream {
      private int written;

      private Filling(OutputStream whole) {
        super(whole);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        written += length;
        if (written > ROOM) {
          throw new IOException(NO_SPACE);
        }
        out.write(bytes, offset, length);
      }
    }
  }

  @Test
  void aFullDiskFailsTheAttemptThatNeedsPassesAndNoMapIsReported() throws Exception {
    ReduceHarness little = harness(dir.resolve("little"), 12);
    little.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 300 << 10);
    for (int map = 0; map < 12; map++) {
      little.map(map, List.of(Rec.random(new Random(map), 9000)));
    }
    little.umbilical.onReport(attempt -> {
      throw new AssertionError("reported " + attempt);
    });
    little.job.setClass("fs.file.impl", FullDisk.class, org.apache.hadoop.fs.FileSystem.class);
    little.job.setBoolean("fs.file.impl.disable.cache", true);
    IOException e = assertThrows(IOException.class, little::run);
    assertTrue(e.getMessage().contains(NO_SPACE), e::getMessage);
    little.job.unset("fs.file.impl");
    little.checkAttempt(1);
    assertTrue(little.counter("PASSES") > 0);
  }

  /** A reducer that ends in the middle leaves the daemon as it was to others. */
  @Test
  void aReducerThatFailsInTheMiddleDisturbsNoOther() throws Exception {
    for (int attempt = 0; attempt < 5; attempt++) {
      hook = () -> {
        throw new IllegalStateException("this reduce() fails");
      };
      UNTIL_HOOK.set(100);
      int number = attempt;
      Exception e = assertThrows(Exception.class, () -> harness.run(number));
      assertTrue(String.valueOf(e.getMessage()).contains("this reduce() fails"), e::toString);
    }
    harness.checkAttempt(5);
    assertFalse(harness.expected().isEmpty());
  }
}
