package org.vas.shuffle.mof;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class ManifestFormatTest {
  private static final int BLOCK = Segment.CHECKSUM_BYTES;

  @Test
  void readsWhatItWrote() throws IOException {
    Manifest read = ManifestFormat.decode(ManifestFormat.encode(twoRuns()));

    assertEquals("attempt_1_0001_m_000007_0", read.attempt());
    assertEquals("vm2", read.host());
    assertTrue(read.compressed());
    assertEquals(2, read.runs());
    assertEquals("packed.mof", read.files().get(0).name());
    assertEquals(2, read.segments(0).size());
    assertEquals(List.of(), read.segments(1));
    Segment last = read.segments(2).get(0);
    assertEquals(BLOCK + 1L, last.storedBytes());
    assertEquals(-7, last.checksum(1));
  }

  @Test
  void aReducerMakesNoChecksumsOfOthersInVersion1() throws IOException {
    List<Segment> segments = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      segments.add(new Segment(i, 0, 0, i * (100L << 20), 100 << 20, 100 << 20, 1,
          new int[(int) Segment.checksumsOf(100 << 20)]));
    }
    byte[] bytes = ManifestV1Bytes.encode(Manifest.of("a").partitions(100).runs(1)
        .files(List.of(new MofFile("packed.mof", 10_000L << 20))).segments(segments).build());
    ManifestV1.decode(bytes, 7);
    long before = allocated();
    assertEquals(1, ManifestV1.decode(bytes, 7).segments().size());
    long part = allocated() - before;
    assertTrue(part < bytes.length / 10, () -> part + " bytes for one of " + bytes.length);
  }

  private static long allocated() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  @Test
  void aMapWithoutRecordsHasAManifestToo() throws IOException {
    Manifest empty = Manifest.of("a").partitions(4).build();
    assertEquals(List.of(), ManifestFormat.decode(ManifestFormat.encode(empty)).segments());
  }

  @Test
  void refusesAnotherVersion() throws IOException {
    byte[] bytes = ManifestFormat.encode(twoRuns());
    bytes[4] = 3;
    assertMessage("version 3, known are 1 and 2", SealedBytes.sealed(bytes));
  }

  @Test
  void refusesASegmentWhoseRecordsNobodyCounted() throws IOException {
    Segment stocks = new Segment(0, 0, 0, 0, 10, 10, Segment.UNCOUNTED, 0);
    assertMessage("a segment whose records nobody counted",
        ManifestFormat.encode(Manifest.of("a").partitions(1).runs(1)
            .files(List.of(new MofFile(ShuffleDirs.PACKED, 10))).segments(List.of(stocks)).build()));
  }

  @Test
  void refusesWhatDoesNotAddUp() {
    assertRule("a segment beyond its file's end", segment(0, 0, 0, 100_000));
    assertRule("a segment of no partition", segment(3, 0, 0, 10));
    assertRule("a segment of no run", segment(0, 2, 0, 10));
    assertRule("segments overlap", segment(0, 0, 0, 10), segment(1, 0, 9, 10));
    assertRule("segments out of order", segment(1, 0, 0, 10), segment(0, 0, 10, 10));
    assertRule("segments out of order", segment(1, 0, 0, 10), segment(1, 0, 10, 10));
  }

  @Test
  void refusesMorePartitionsThanAnIndexIsMadeFor() {
    int most = ManifestRules.MOST_PARTITIONS;
    Manifest.Builder empty = Manifest.of("a").runs(0);
    assertEquals(most, empty.partitions(most).build().partitions());
    IllegalArgumentException refused = assertThrows(
        IllegalArgumentException.class, () -> empty.partitions(most + 1).build());
    assertEquals("more than 1048576 partitions", refused.getMessage());
  }

  @Test
  void refusesNamesThatLeadElsewhere() {
    for (String name : List.of("", "../x", "a/b", ".", ".hidden")) {
      assertThrows(IllegalArgumentException.class, () -> new MofFile(name, 1), name);
    }
  }

  @Property(tries = 300)
  void anyChangedByteIsFound(@ForAll("manifests") Manifest manifest, @ForAll int at,
      @ForAll byte change) throws IOException {
    byte[] bytes = ManifestFormat.encode(manifest);
    bytes[Math.floorMod(at, bytes.length)] ^= change == 0 ? 1 : change;
    assertThrows(ManifestException.class, () -> ManifestFormat.decode(bytes));
  }

  @Property(tries = 300)
  void anyCutIsFound(@ForAll("manifests") Manifest manifest, @ForAll int at) throws IOException {
    byte[] bytes = ManifestFormat.encode(manifest);
    byte[] cut = Arrays.copyOf(bytes, Math.floorMod(at, bytes.length));
    assertThrows(ManifestException.class, () -> ManifestFormat.decode(cut));
  }

  /** Behind a right checksum, any bytes are a manifest or one clear error: never another one. */
  @Property(tries = 2000)
  void nonsenseIsOneClearError(@ForAll("manifests") Manifest manifest, @ForAll int at,
      @ForAll byte change) throws IOException {
    byte[] bytes = ManifestFormat.encode(manifest);
    bytes[Math.floorMod(at, bytes.length - Integer.BYTES)] ^= change;
    SealedBytes.sealedThroughout(bytes);
    try {
      byte[] again = ManifestFormat.encode(ManifestFormat.decode(bytes));
      assertArrayEquals(again, ManifestFormat.encode(ManifestFormat.decode(again)));
    } catch (ManifestException e) {
      assertTrue(e.getMessage().length() < 300, e::getMessage);
    }
  }

  @Provide
  Arbitrary<Manifest> manifests() {
    Arbitrary<Integer> lengths = Arbitraries.integers().between(1, 3 * BLOCK);
    return Combinators.combine(lengths.list().ofMaxSize(20), Arbitraries.integers())
        .as(ManifestFormatTest::manifest);
  }

  private static Manifest manifest(List<Integer> lengths, int checksum) {
    Segment[] segments = new Segment[lengths.size()];
    long offset = 0;
    for (int i = 0; i < segments.length; i++) {
      segments[i] = segment(i, 0, offset, lengths.get(i), checksum);
      offset += lengths.get(i);
    }
    return Manifest.of("attempt_1_0001_m_000000_0").partitions(20).runs(1)
        .files(List.of(new MofFile(ShuffleDirs.PACKED, offset))).segments(List.of(segments))
        .build();
  }

  private static Manifest twoRuns() {
    return Manifest.of("attempt_1_0001_m_000007_0").host("vm2").compressed(true).partitions(3)
        .runs(2).files(List.of(new MofFile(ShuffleDirs.PACKED, 90_000)))
        .segments(List.of(segment(0, 0, 0, 10, 1), segment(0, 1, 20_000, 10, 2),
            segment(2, 0, 22_000, BLOCK + 1L, -7)))
        .build();
  }

  private static Segment segment(int partition, int run, long offset, long stored) {
    return segment(partition, run, offset, stored, 0);
  }

  private static Segment segment(int partition, int run, long offset, long stored, int checksum) {
    int[] checksums = new int[(int) Segment.checksumsOf(stored)];
    Arrays.fill(checksums, checksum);
    return new Segment(partition, run, 0, offset, stored, stored, 1, checksums);
  }

  private static void assertRule(String message, Segment... segments) {
    Manifest.Builder builder = Manifest.of("a").partitions(3).runs(2)
        .files(List.of(new MofFile(ShuffleDirs.PACKED, 90_000))).segments(List.of(segments));
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, builder::build);
    assertEquals(message, e.getMessage());
  }

  private static void assertMessage(String message, byte[] bytes) {
    ManifestException e =
        assertThrows(ManifestException.class, () -> ManifestFormat.decode(bytes));
    assertEquals(message, e.getMessage());
  }
}
