package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BlockLocationsTest {
  private static final long MIB = 1 << 20;
  private static final int OST_WITHOUT_GUEST = 3;
  private static final int OST_NOT_IN_THE_MAP = 77;

  private Configuration conf;
  private FileSystem files;

  @BeforeEach
  void mount() throws IOException {
    conf = TestMount.configuration();
    useBlocksOf("1m");
  }

  private void useBlocksOf(String size) throws IOException {
    conf.set("vas.lustre.block-size", size);
    files = TestMount.fileSystem(conf);
  }

  /** A sparse file of that length with one stripe of 1 MiB on each OST in turn. */
  private Path file(String name, long length, int... osts) throws IOException {
    return file(name, length, MIB, osts);
  }

  private Path file(String name, long length, long stripeSize, int... osts) throws IOException {
    java.nio.file.Path local = TestMount.mount(conf).resolve(name);
    Files.createFile(local);
    try (RandomAccessFile data = new RandomAccessFile(local.toFile(), "rw")) {
      data.setLength(length);
    }
    TestMount.MDS.put(local, LovBytes.plain(stripeSize, osts));
    return new Path("/" + name);
  }

  private BlockLocation[] locations(Path path, long start, long length) throws IOException {
    return files.getFileBlockLocations(files.getFileStatus(path), start, length);
  }

  private static void assertLocation(BlockLocation got, long offset, long length, String... hosts)
      throws IOException {
    assertEquals(offset, got.getOffset());
    assertEquals(length, got.getLength());
    assertArrayEquals(hosts, got.getHosts());
  }

  @Test
  void namesTheVmOfEachStripe() throws IOException {
    BlockLocation[] got = locations(file("a", 5 * MIB / 2, 1, 0), 0, Long.MAX_VALUE);
    assertEquals(3, got.length);
    assertLocation(got[0], 0, MIB, "vm2");
    assertLocation(got[1], MIB, MIB, "vm1");
    assertLocation(got[2], 2 * MIB, MIB / 2, "vm2");
    assertArrayEquals(new String[] {"10.77.0.22"}, got[0].getNames());
  }

  /** As new files are: the stripe number counts from the file's start in the second component. */
  @Test
  void R4_namesTheVmOfEachBlockOfAProgressiveFile() throws IOException {
    Path path = file("pfl", 5 * MIB, 0);
    TestMount.MDS.put(
        TestMount.mount(conf).resolve("pfl"), LovBytes.progressive(MIB, 2, 2, 0, 1));
    BlockLocation[] got = locations(path, 0, Long.MAX_VALUE);
    assertEquals(MIB, files.getFileStatus(path).getBlockSize());
    assertEquals(5, got.length);
    String[] vms = {"vm3", "vm1", "vm2", "vm3", "vm1"};
    for (int block = 0; block < vms.length; block++) {
      assertLocation(got[block], block * MIB, MIB, vms[block]);
    }
  }

  @Test
  void namesNobodyForABlockOfSmallStripesOnSeveralVms() throws IOException {
    useBlocksOf("128m");
    BlockLocation[] got = locations(file("a", 200 * MIB, 0, 1, 2), 0, Long.MAX_VALUE);
    assertEquals(2, got.length);
    assertLocation(got[0], 0, 128 * MIB);
    assertLocation(got[1], 128 * MIB, 72 * MIB);
  }

  @Test
  void namesTheVmOfMoreThanHalfOfTheBlockAlsoForAPartOfIt() throws IOException {
    useBlocksOf("16m");
    Path path = file("a", 40 * MIB, 12 * MIB, 0, 1);
    BlockLocation[] got = locations(path, 13 * MIB, Long.MAX_VALUE);
    assertEquals(3, got.length);
    assertLocation(got[0], 13 * MIB, 3 * MIB, "vm1");
    assertLocation(got[1], 16 * MIB, 16 * MIB);
    assertLocation(got[2], 32 * MIB, 8 * MIB);
    assertLocation(locations(file("b", 39 * MIB, 12 * MIB, 0, 1), 38 * MIB, 1)[0],
        38 * MIB, 1, "vm1");
  }

  @Test
  void answersOnlyTheRangeAsked() throws IOException {
    BlockLocation[] got = locations(file("a", 4 * MIB, 0, 1), MIB + 10, 20);
    assertEquals(1, got.length);
    assertLocation(got[0], MIB + 10, 20, "vm2");
  }

  @Test
  void answersNothingAtOrAfterTheEnd() throws IOException {
    Path path = file("a", MIB, 0);
    assertEquals(0, locations(path, MIB, 1).length);
    assertEquals(0, locations(path, 0, 0).length);
    assertThrows(IllegalArgumentException.class, () -> locations(path, -1, 1));
  }

  @Test
  void namesNobodyWhereNobodyIsKnown() throws IOException {
    Path path = file("a", 3 * MIB, OST_WITHOUT_GUEST, OST_NOT_IN_THE_MAP, 2);
    BlockLocation[] got = locations(path, 0, 3 * MIB);
    assertLocation(got[0], 0, MIB);
    assertLocation(got[1], MIB, MIB);
    assertLocation(got[2], 2 * MIB, MIB, "vm3");
  }

  @Test
  void namesNobodyWithoutALayout() throws IOException {
    TestMount.MDS.forget(Files.write(TestMount.mount(conf).resolve("plain"), new byte[100]));
    BlockLocation[] got = locations(new Path("/plain"), 0, 100);
    assertEquals(1, got.length);
    assertLocation(got[0], 0, 100);
  }

  @Test
  void namesNobodyWhenTheLayoutIsGarbage() throws IOException {
    Path path = file("a", MIB, 0);
    TestMount.MDS.put(TestMount.mount(conf).resolve("a"), new byte[] {1, 2, 3, 4, 5});
    assertLocation(locations(path, 0, MIB)[0], 0, MIB);
  }

  @Test
  void comesWithTheListing() throws IOException {
    file("a", 2 * MIB, 0, 1);
    RemoteIterator<LocatedFileStatus> listed = files.listLocatedStatus(new Path("/"));
    BlockLocation[] got = listed.next().getBlockLocations();
    assertLocation(got[1], MIB, MIB, "vm2");
  }

  @Test
  void answersLocalhostWhenSwitchedOff() throws IOException {
    Path path = file("a", 2 * MIB, 0, 1);
    conf.set("vas.locations", "none");
    files = TestMount.fileSystem(conf);
    BlockLocation[] got = locations(path, 0, 2 * MIB);
    assertEquals(1, got.length);
    assertLocation(got[0], 0, 2 * MIB, "localhost");
  }

  @Test
  void readsALayoutOnceUntilTheFileChanges() throws IOException {
    Path path = file("a", 64 * MIB, 32 * MIB, 0, 1);
    int before = TestMount.MDS.gets();
    FileStatus status = files.getFileStatus(path);
    files.getFileBlockLocations(status, 0, 64 * MIB);
    files.getFileBlockLocations(status, 0, 64 * MIB);
    files.open(path).close();
    assertEquals(1, TestMount.MDS.gets() - before);
    files.truncate(path, 33 * MIB);
    files.getFileBlockLocations(status, 0, 33 * MIB);
    assertEquals(2, TestMount.MDS.gets() - before);
  }

  @Test
  void forgetsLayoutsBeyondTheBound() throws IOException {
    conf.setInt("vas.layout.cache-size", 1);
    files = TestMount.fileSystem(conf);
    Path first = file("a", MIB, 0);
    Path second = file("b", MIB, 0);
    int before = TestMount.MDS.gets();
    for (Path path : new Path[] {first, second, first}) {
      locations(path, 0, MIB);
    }
    assertEquals(3, TestMount.MDS.gets() - before);
  }

  @Test
  void reportsStripesThatAreWorthATaskAsBlocks() throws IOException {
    useBlocksOf("128m");
    long normal = files.getDefaultBlockSize(new Path("/"));
    assertEquals(32 * MIB, blockSize(file("large", 100 * MIB, 32 * MIB, 0, 1)));
    assertEquals(normal, blockSize(file("small", 100 * MIB, 4 * MIB, 0, 1)));
    assertEquals(normal, blockSize(file("one-ost", 100 * MIB, 32 * MIB, 0)));
    assertEquals(normal, blockSize(file("short", MIB, 32 * MIB, 0, 1)));
  }

  private long blockSize(Path path) throws IOException {
    return files.getFileStatus(path).getBlockSize();
  }

  @Test
  void readsOneLayoutForTenThousandStripes() throws IOException {
    int[] osts = {0, 1, 2, 3};
    Path path = file("huge", 10_000 * MIB, osts);
    int before = TestMount.MDS.gets();
    Duration best = Duration.ofDays(1);
    for (int i = 0; i < 5; i++) {
      FileStatus status = files.getFileStatus(path);
      long start = System.nanoTime();
      assertEquals(10_000, files.getFileBlockLocations(status, 0, 10_000 * MIB).length);
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      best = took.compareTo(best) < 0 ? took : best;
    }
    System.out.printf("getFileBlockLocations: 10000 stripes in %.1f ms%n", best.toNanos() / 1e6);
    assertEquals(1, TestMount.MDS.gets() - before);
  }
}
