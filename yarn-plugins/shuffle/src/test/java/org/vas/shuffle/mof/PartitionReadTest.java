package org.vas.shuffle.mof;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks what one reducer reads of a manifest, and what it notices of damage. */
class PartitionReadTest {
  private static final Path FILE = new Path("/manifest");
  private static final long MEMORY = 1 << 20;
  private static final String ATTEMPT = "attempt_1700000000000_0001_m_008191_0";

  static Manifest read(CountedInput in, int partitions, int partition, long memory)
      throws IOException {
    return new PartitionRead(in.open(), FILE, CallWatch.NONE, memory)
        .manifest(partitions, partition);
  }

  private static Manifest read(byte[] bytes, int partitions, int partition) throws IOException {
    return read(new CountedInput(bytes), partitions, partition, MEMORY);
  }

  /** A map of these runs, each with a segment for every partition, in one file or in one each. */
  static Manifest map(int partitions, int runs, long partitionBytes, boolean packed) {
    long stored = Math.max(10, partitionBytes / runs);
    List<MofFile> files = new ArrayList<>();
    List<Segment> segments = new ArrayList<>();
    for (int partition = 0; partition < partitions; partition++) {
      for (int run = 0; run < runs; run++) {
        long offset = packed ? (run * (long) partitions + partition) * stored : run * stored;
        segments.add(new Segment(partition, run, packed ? 0 : partition, offset, stored,
            stored - 4, Math.max(1, stored / 100), new int[(int) Segment.checksumsOf(stored)]));
      }
      if (!packed) {
        files.add(new MofFile(ShuffleDirs.perReducer(partition), stored * runs));
      }
    }
    if (packed) {
      files.add(new MofFile(ShuffleDirs.PACKED, stored * runs * partitions));
    }
    return Manifest.of(ATTEMPT).host("guest-0123.site").partitions(partitions).runs(runs)
        .files(files).segments(segments).build();
  }

  /** 1 TB from 8,192 maps to 4,000 reducers: all that is read of manifests, and all written. */
  @ParameterizedTest
  @CsvSource({"1, true", "2, true", "3, true", "16, true", "1, false", "3, false"})
  void P1_manifestsCostUnderTwoPercentOfTheData(int runs, boolean packed) throws IOException {
    long data = 1_000_000_000_000L;
    int maps = 8192;
    int reducers = 4000;
    byte[] bytes =
        ManifestFormat.encode(map(reducers, runs, data / maps / reducers, packed));
    long asked = 0;
    for (int partition = 0; partition < reducers; partition++) {
      CountedInput in = new CountedInput(bytes);
      assertEquals(runs, read(in, reducers, partition, MEMORY).segments().size());
      assertEquals(2, in.reads());
      asked += in.asked();
    }
    double read = (double) asked * maps / data;
    double written = (double) bytes.length * maps / data;
    System.out.printf("%d runs, packed %s: %d bytes a map and reducer, read %.4f, written %.4f%n",
        runs, packed, asked / reducers, read, written);
    assertTrue(read < 0.02, () -> "read: " + read + " of the data");
    assertTrue(runs > 3 || read + written < 0.02, () -> "read and written: " + (read + written));
  }

  /** Up to 31 partitions the first 4 KiB are asked for, once. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4, 31})
  void P1_aSmallManifestIsOneRead(int partitions) throws IOException {
    byte[] bytes = ManifestFormat.encode(map(partitions, 1, 30_000, true));
    for (int partition = 0; partition < partitions; partition++) {
      CountedInput in = new CountedInput(bytes);
      assertEquals(1, read(in, partitions, partition, MEMORY).segments().size());
      boolean fits = in.reads() == 1;
      assertTrue(fits || (partitions == 31 && in.reads() == 2), () -> in.reads() + " reads");
      assertTrue(in.asked() <= PartitionRead.FIRST + 1000, () -> in.asked() + " bytes");
    }
  }

  /** In a small manifest a partition's block can still be a large one. */
  @Test
  void P1_aLargeBlockOfASmallManifestIsReadWhole() throws IOException {
    byte[] bytes = ManifestFormat.encode(map(3, 2, 1L << 30, true));
    CountedInput in = new CountedInput(bytes);
    Manifest part = read(in, 3, 2, MEMORY);
    assertEquals(8192, part.segments().get(1).checksumCount());
    assertEquals(2, in.reads());
  }

  @Test
  void P1_emptyPartitionsShareABlock() throws IOException {
    Manifest sparse = Manifest.of(ATTEMPT).partitions(4000).runs(1)
        .files(List.of(new MofFile(ShuffleDirs.PACKED, 10)))
        .segments(List.of(new Segment(1234, 0, 0, 0, 10, 6, 1, 7))).build();
    byte[] bytes = ManifestFormat.encode(sparse);
    assertTrue(bytes.length < 4001 * IndexRecord.BYTES + 500, () -> bytes.length + " bytes");
    assertEquals(List.of(), read(bytes, 4000, 0).segments());
    assertEquals(List.of(), read(bytes, 4000, 3999).segments());
    assertEquals(1, read(bytes, 4000, 1234).segments().size());
    assertEquals(1, ManifestFormat.decode(bytes).segments().size());
  }

  /** Who does not read a block does not see its damage; who needs it does, and so does the whole. */
  @ParameterizedTest
  @ValueSource(ints = {31, 100})
  void P1_damageIsSeenByTheReducerThatNeedsIt(int partitions) throws IOException {
    byte[] good = ManifestFormat.encode(map(partitions, 3, 100_000, true));
    ByteBuffer record = ByteBuffer.wrap(good, (int) IndexRecord.place(1) + 16, 12);
    int block = (int) record.getLong() + record.getInt() / 2;
    for (int at : new int[] {block, (int) IndexRecord.place(1) + 13}) {
      byte[] bad = SealedBytes.changed(good, at, good[at] ^ 4);
      assertEquals(3, read(bad, partitions, 0).segments().size());
      assertEquals(3, read(bad, partitions, 2).segments().size());
      String message = assertThrows(ManifestException.class, () -> read(bad, partitions, 1))
          .getMessage();
      assertTrue(message.startsWith("partition 1: wrong checksum"), message);
      assertThrows(ManifestException.class, () -> ManifestFormat.decode(bad));
    }
  }

  /** What was read anyway is verified: any changed byte is seen by every reducer. */
  @Test
  void P1_aSmallManifestIsVerifiedWhole() throws IOException {
    byte[] good = ManifestFormat.encode(map(3, 2, 100_000, true));
    for (int at = 0; at < good.length; at++) {
      byte[] bad = SealedBytes.changed(good, at, good[at] ^ 4);
      for (int partition = 0; partition < 3; partition++) {
        int reader = partition;
        assertThrows(ManifestException.class, () -> read(bad, 3, reader), "byte " + at);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 31, 100})
  void P1_anotherKindIsRefusedByItsName(int partitions) throws IOException {
    byte[] bytes = ManifestFormat.encode(map(partitions, 3, 100_000, true));
    int place = (int) IndexRecord.place(1);
    System.arraycopy(new byte[] {'r', 'a', 'w', 0, 0}, 0, bytes, place, 5);
    SealedBytes.sealed(SealedBytes.sealed(bytes, place, IndexRecord.BYTES));
    assertRefused("partition 1: segments of kind raw, this reader knows ifile: it needs the release"
        + " that wrote them, or a later one", bytes, partitions);
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 31, 100})
  void P1_whatIsNoManifestOfThisVersionIsNamed(int partitions) throws IOException {
    byte[] good = ManifestFormat.encode(map(partitions, 3, 100_000, true));
    byte[] later = good.clone();
    for (int number = IndexRecord.SUMMARY; number < partitions; number++) {
      later[(int) IndexRecord.place(number) + 8] = 3;
    }
    later[4] = 3;
    assertRefused("version 3, known are 1 and 2", SealedBytes.sealed(later), partitions);
    byte[] other = SealedBytes.changed(later, 0, 'X');
    assertRefused(
        "not a manifest: starts with 0x5841534d", SealedBytes.sealed(other), partitions);
    assertRefused("cut short: 0 bytes", new byte[0], partitions);
  }

  @Test
  void P1_aCutManifestIsRefusedByThoseWhoNeedWhatIsMissing() throws IOException {
    byte[] good = ManifestFormat.encode(map(100, 1, 100_000, true));
    int record = (int) IndexRecord.place(1) + 5;
    assertRefused("partition 1: wrong checksum of its index record",
        Arrays.copyOf(good, record), 100);
    int end = (int) ByteBuffer.wrap(good).getLong((int) IndexRecord.place(2) + 16);
    assertRefused("partition 1: the manifest ends before offset " + end,
        Arrays.copyOf(good, end - 1), 100);
    assertEquals(1, read(Arrays.copyOf(good, end), 100, 1).segments().size());
  }

  private static void assertRefused(String message, byte[] bytes, int partitions) {
    assertEquals(message, assertThrows(ManifestException.class, () -> read(bytes, partitions, 1))
        .getMessage());
  }

  /** A length that nothing is behind is refused, and nothing of that length is allocated. */
  @ParameterizedTest
  @ValueSource(ints = {3, 100})
  void P1_hostileSizesAreRefusedBeforeTheyAreAllocated(int partitions) throws IOException {
    byte[] good = ManifestFormat.encode(map(partitions, 1, 100_000, true));
    for (int length : new int[] {Integer.MAX_VALUE, 1 << 30, -1, Integer.MIN_VALUE, 0, 10}) {
      byte[] bad = record(good, 1, ByteBuffer.wrap(good)
          .getLong((int) IndexRecord.place(1) + 16), length);
      assertRefusedInLittleMemory(bad, partitions);
    }
    for (long offset : new long[] {Long.MAX_VALUE, 1L << 40, 1L << 33, -1, 0, 40}) {
      assertRefusedInLittleMemory(record(good, 1, offset, 100), partitions);
    }
  }

  private static void assertRefusedInLittleMemory(byte[] bad, int partitions) {
    long before = allocated();
    assertThrows(ManifestException.class, () -> read(bad, partitions, 1));
    long used = allocated() - before;
    assertTrue(used < 4 << 20, () -> used + " bytes allocated");
  }

  private static byte[] record(byte[] good, int number, long offset, int length) {
    byte[] bad = good.clone();
    ByteBuffer.wrap(bad).putLong((int) IndexRecord.place(number) + 16, offset)
        .putInt((int) IndexRecord.place(number) + 24, length);
    return SealedBytes.sealed(bad, (int) IndexRecord.place(number), IndexRecord.BYTES);
  }

  /** A true length that is too much for the memory is no fault of the map. */
  @Test
  void P1_whatDoesNotFitTheMemoryIsRefusedWithTheKeyToRaise() throws IOException {
    byte[] bytes = ManifestFormat.encode(map(40, 1, 8L << 30, true));
    long needed = 2 * 4 * (8L << 30) / Segment.CHECKSUM_BYTES;
    assertEquals(1, read(new CountedInput(bytes), 40, 7, needed + 1000).segments().size());
    for (long memory : new long[] {64 << 10, needed - 1000}) {
      long before = allocated();
      String message = assertThrows(ManifestTooLargeException.class,
          () -> read(new CountedInput(bytes), 40, 7, memory)).getMessage();
      long used = allocated() - before;
      assertTrue(used < Math.max(memory, 1 << 20), () -> used + " bytes allocated");
      assertTrue(message.startsWith("partition 7: ") && message.contains("vas.shuffle.merge-percent"),
          message);
    }
  }

  /** All that is allocated for a part is within the memory that was asked for. */
  @ParameterizedTest
  @CsvSource({"1, 30000", "16, 30000", "3, 2000000000", "2000, 30000000"})
  void P1_aPartTakesNoMoreThanItsMemory(int runs, long partitionBytes) throws IOException {
    byte[] bytes = ManifestFormat.encode(map(40, runs, partitionBytes, true));
    long memory = 64 << 10;
    while (true) {
      try {
        read(new CountedInput(bytes), 40, 7, memory);
        break;
      } catch (ManifestTooLargeException e) {
        memory += memory / 8;
      }
    }
    long before = allocated();
    read(new CountedInput(bytes), 40, 7, memory);
    long used = allocated() - before;
    long most = Math.max(memory, 64 << 10) + (64 << 10);
    assertTrue(used < most, () -> used + " bytes allocated of " + most);
  }

  private static long allocated() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getThreadAllocatedBytes(Thread.currentThread().getId());
  }
}
