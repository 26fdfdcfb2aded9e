package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.vas.layout.StripeLayout;
import org.vas.layout.StripeRun;

/**
 * Tests the counters that MapReduce publishes: bytes written, bytes read, and those from OSTs of the
 * VM's own host.
 */
class ReadCountersTest {
  private static final int STRIPE = 64 << 10;
  private static final int OST_OF_VM1 = 0;
  private static final int LENGTH = 8 * STRIPE + 1000;
  private static final Path FILE = new Path("/a");

  private Configuration conf;
  private FileSystem files;
  private final Map<String, Long> before = new HashMap<>();

  @BeforeEach
  void writeAFile() throws IOException {
    conf = TestMount.configuration();
    files = TestMount.fileSystem(conf);
    write();
    // Another test's class of the same scheme may hide from clearStatistics().
    for (String scheme : List.of("lustre", "lustre-local")) {
      before.put(scheme, allBytesRead(scheme));
    }
  }

  private void write() throws IOException {
    try (FSDataOutputStream out = files.create(FILE, true, 4096, (short) 1, STRIPE)) {
      for (int i = 0; i < LENGTH; i++) {
        out.write(i * 31);
      }
    }
  }

  private long bytesRead(String scheme) {
    return allBytesRead(scheme) - before.get(scheme);
  }

  @SuppressWarnings("deprecation") // The table that MapReduce reads.
  private static long allBytesRead(String scheme) {
    return FileSystem.getAllStatistics().stream()
        .filter(each -> each.getScheme().equals(scheme))
        .mapToLong(FileSystem.Statistics::getBytesRead).sum();
  }

  @SuppressWarnings("deprecation") // The table that MapReduce reads.
  private static long allBytesWritten() {
    return FileSystem.getAllStatistics().stream()
        .filter(each -> each.getScheme().equals("lustre"))
        .mapToLong(FileSystem.Statistics::getBytesWritten).sum();
  }

  /** Bytes of the file on the OST of vm1, by its layout. */
  private long bytesOnVm1() throws Exception {
    StripeLayout layout = StripeLayout.decode(
        TestMount.MDS.get(TestMount.mount(conf).resolve("a"), "lustre.lov"));
    return layout.extents(LENGTH).stream().filter(run -> run.ostIndex() == OST_OF_VM1)
        .mapToLong(StripeRun::length).sum();
  }

  private void readAll(int chunk) throws IOException {
    byte[] buffer = new byte[chunk];
    try (FSDataInputStream in = files.open(FILE, 4096)) {
      long position = 0;
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        for (int i = 0; i < count; i++) {
          assertEquals((byte) (31 * (position + i)), buffer[i]);
        }
        position += count;
      }
      assertEquals(LENGTH, position);
    }
  }

  private void assertCounted() throws Exception {
    assertEquals(LENGTH, bytesRead("lustre"));
    assertEquals(bytesOnVm1(), bytesRead("lustre-local"));
  }

  @Test
  void countsSmallReads() throws Exception {
    readAll(100);
    assertCounted();
  }

  @Test
  void countsReadsLargerThanTheBuffer() throws Exception {
    readAll(1 << 20);
    assertCounted();
  }

  @Test
  void countsBytesAndNotBuffers() throws IOException {
    try (FSDataInputStream in = files.open(FILE)) {
      assertEquals(0, in.read());
    }
    assertEquals(1, bytesRead("lustre"));
  }

  @Test
  void countsWhatWasReadBetweenSeeks() throws IOException {
    byte[] buffer = new byte[10];
    try (FSDataInputStream in = files.open(FILE)) {
      in.readFully(buffer);
      in.seek(20);
      in.readFully(buffer);
      in.seek(LENGTH - 5);
      assertEquals(5, in.read(buffer));
      in.seek(0);
      in.unbuffer();
      assertEquals(0, in.read());
    }
    assertEquals(26, bytesRead("lustre"));
  }

  @Test
  void countsShortReadsOfAnOpenStreamAtEachReadOfTheFile() throws IOException {
    conf.set("vas.lustre.buffer-size", "4k");
    files = TestMount.fileSystem(conf);
    byte[] buffer = new byte[100];
    try (FSDataInputStream in = files.open(FILE, 4096)) {
      for (int i = 0; i < 200; i++) {
        in.readFully(buffer);
        long behind = in.getPos() - bytesRead("lustre");
        assertTrue(behind >= 0 && behind <= 4096, () -> behind + " bytes behind");
      }
    }
    assertEquals(20_000, bytesRead("lustre"));
  }

  @Test
  void countsALongReadOfAnOpenStreamAtOnce() throws IOException {
    try (FSDataInputStream in = files.open(FILE)) {
      in.readFully(new byte[10]);
      in.readFully(new byte[512]);
      assertEquals(522, bytesRead("lustre"));
    }
  }

  @Test
  void countsWrittenBytesOfEveryStream() throws IOException {
    Path file = new Path("/b");
    long start = allBytesWritten();
    try (FSDataOutputStream out = files.create(file, true, 4096)) {
      out.write(1);
      out.write(new byte[100]);
      out.write(new byte[10_000]);
      out.hflush();
      assertEquals(10_101, allBytesWritten() - start);
      out.write(new byte[30]);
    }
    assertEquals(10_131, allBytesWritten() - start);
    try (FSDataOutputStream out = files.append(file)) {
      out.write(new byte[7]);
      assertEquals(10_138, out.getPos());
    }
    assertEquals(10_138, allBytesWritten() - start);
  }

  @Test
  void countsPositionedReadsOfSeveralThreads() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (FSDataInputStream in = files.open(FILE)) {
      List<Future<?>> reads = new ArrayList<>();
      for (int at = 0; at < LENGTH; at += 1000) {
        int position = at;
        int length = Math.min(1000, LENGTH - at);
        reads.add(threads.submit(() -> {
          ByteBuffer buffer = ByteBuffer.allocate(length);
          in.readFully(position, buffer);
          for (int i = 0; i < length; i++) {
            assertEquals((byte) (31 * (position + i)), buffer.get(i));
          }
          return null;
        }));
      }
      for (Future<?> read : reads) {
        read.get();
      }
      assertEquals(0, in.getPos());
    } finally {
      threads.shutdownNow();
    }
    assertCounted();
  }

  @Test
  void countsLocalBytesAlsoWhenNoLocationsAreAnswered() throws Exception {
    conf.set("vas.locations", "none");
    files = TestMount.fileSystem(conf);
    readAll(5000);
    assertCounted();
  }

  @Test
  void countsNoLocalBytesOnAMachineWithoutOsts() throws IOException {
    conf.set("vas.local.guest", "");
    files = TestMount.fileSystem(conf);
    readAll(5000);
    assertEquals(LENGTH, bytesRead("lustre"));
    assertEquals(0, bytesRead("lustre-local"));
  }

  @Test
  void countsLocalBytesOnceWhereAllSchemesAreAddedUp() throws Exception {
    conf.setBoolean("vas.local.counter", false);
    conf.setBoolean("vas.lustre.progressive", false);
    files = TestMount.fileSystem(conf);
    write();
    assertTrue(bytesOnVm1() > 0, "each OST has a part of the file");
    readAll(5000);
    assertEquals(LENGTH, bytesRead("lustre"));
    assertEquals(0, bytesRead("lustre-local"));
  }
}
