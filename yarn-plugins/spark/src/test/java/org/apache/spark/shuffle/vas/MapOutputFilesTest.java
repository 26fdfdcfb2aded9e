package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the writer makes is what the reader hands out, and nothing else is handed out. */
class MapOutputFilesTest {
  private static final int SHUFFLE = 3;
  private static final long TASK = 12_345_678_901L;

  private final Path directory = SparkApps.newDirectory().resolve("shuffle");
  private ApplicationFiles files;

  @BeforeEach
  void makeApplication() throws IOException {
    files = ShuffleStorage.at(directory.toString(), new Configuration())
        .makeApplication("application_1_0001");
  }

  @Test
  void everyRangeOfPartitions() throws IOException {
    byte[][] partitions = write(0, 1, 65_536, 0, 0, 65_537, 3_000_000, 10, 0);
    for (int start = 0; start < partitions.length; start++) {
      for (int end = start + 1; end <= partitions.length; end++) {
        assertArrayEquals(joined(partitions, start, end), read(start, end), start + " to " + end);
      }
    }
    assertEquals(2, SparkApps.files(directory, "").stream().filter(Files::isRegularFile).count());
  }

  @Test
  void aManyPartitionsIndexIsReadInParts() throws IOException {
    int[] sizes = new int[20_000];
    sizes[19_990] = 200_000;
    sizes[19_999] = 5;
    byte[][] partitions = write(sizes);
    assertArrayEquals(partitions[19_990], read(19_990, 19_991));
    assertArrayEquals(joined(partitions, 19_000, 20_000), read(19_000, 20_000));
  }

  @Test
  void aMapWithoutOutputHasNoDataFile() throws IOException {
    write(0, 0, 0);
    assertEquals(List.of(), SparkApps.files(directory, ".data"));
    assertEquals(1, SparkApps.files(directory, ".index").size());
    assertArrayEquals(new byte[0], read(0, 3));
  }

  @Test
  void anAbortedMapLeavesNothing() throws IOException {
    VasMapOutputWriter writer = new VasMapOutputWriter(files, SHUFFLE, TASK, 2, false);
    fill(writer.getPartitionWriter(0), new byte[300_000]);
    assertEquals(1, SparkApps.files(directory, ".data").size());
    writer.abort(new IOException("the test's"));
    writer.abort(null);
    assertEquals(Set.of(), Set.copyOf(SparkApps.files(directory, ".data")));
    assertThrows(BadMapOutputException.class, () -> read(0, 1));
  }

  @Test
  void whatIsNotCommittedIsNotRead() throws IOException {
    VasMapOutputWriter writer = new VasMapOutputWriter(files, SHUFFLE, TASK, 2, true);
    fill(writer.getPartitionWriter(0), new byte[300_000]);
    assertThrows(BadMapOutputException.class, () -> read(0, 1));
    writer.commitAllPartitions(new long[0]);
    writer.abort(null);
    assertArrayEquals(new byte[300_000], read(0, 2));
  }

  @Test
  void anyChangedByteIsFoundByWhoNeedsIt() throws IOException {
    byte[][] partitions = write(7, 100_000, 5, 70_000);
    for (String suffix : List.of(".index", ".data")) {
      Path file = SparkApps.files(directory, suffix).get(0);
      byte[] whole = Files.readAllBytes(file);
      int step = suffix.equals(".index") ? 1 : 997;
      for (int i = 0; i < whole.length; i += step) {
        byte[] changed = whole.clone();
        changed[i] ^= (byte) (1 << i % 8);
        Files.write(file, changed);
        assertThrows(BadMapOutputException.class, () -> read(0, 4), suffix + " " + i);
      }
      for (int length = 0; length < whole.length; length += step) {
        Files.write(file, java.util.Arrays.copyOf(whole, length));
        assertThrows(BadMapOutputException.class, () -> read(0, 4), suffix + " cut " + length);
      }
      Files.write(file, whole);
    }
    assertArrayEquals(joined(partitions, 0, 4), read(0, 4));
  }

  @Test
  void noUnverifiedByteIsHandedOut() throws IOException {
    byte[][] partitions = write(3_000_000);
    Path file = SparkApps.files(directory, ".data").get(0);
    byte[] changed = Files.readAllBytes(file);
    changed[2_500_000] ^= 4;
    Files.write(file, changed);
    MapFiles map = new MapFiles(files, SHUFFLE, TASK, 0);
    ByteArrayOutputStream got = new ByteArrayOutputStream();
    try (InputStream in = new VerifiedBuffer(map, map.plan(1)).createInputStream()) {
      assertThrows(BadMapOutputException.class, () -> in.transferTo(got));
      assertThrows(BadMapOutputException.class, in::read, "it fails for good");
    }
    assertArrayEquals(java.util.Arrays.copyOf(partitions[0], got.size()), got.toByteArray());
  }

  @Test
  void theIndexOfAnotherMapIsRefused() throws IOException {
    write(10);
    MapFiles other = new MapFiles(files, SHUFFLE, TASK + 1, 0);
    Path index = SparkApps.files(directory, ".index").get(0);
    Files.copy(index, index.resolveSibling("map_" + (TASK + 1) + ".index"));
    BadMapOutputException e =
        assertThrows(BadMapOutputException.class, () -> other.plan(1));
    assertEquals("the index is that of shuffle 3, task attempt " + TASK, e.getCause().getMessage());
  }

  private byte[][] write(int... sizes) throws IOException {
    Random random = new Random(1);
    byte[][] partitions = new byte[sizes.length][];
    VasMapOutputWriter writer =
        new VasMapOutputWriter(files, SHUFFLE, TASK, sizes.length, false);
    for (int i = 0; i < sizes.length; i++) {
      partitions[i] = new byte[sizes[i]];
      random.nextBytes(partitions[i]);
      if (sizes[i] > 0 || i % 2 == 0) {
        fill(writer.getPartitionWriter(i), partitions[i]);
      }
    }
    long[] lengths = writer.commitAllPartitions(new long[0]).getPartitionLengths();
    assertArrayEquals(java.util.Arrays.stream(sizes).asLongStream().toArray(), lengths);
    return partitions;
  }

  private static void fill(ShufflePartitionWriter writer, byte[] bytes) throws IOException {
    try (OutputStream out = writer.openStream()) {
      int half = bytes.length / 2;
      out.write(bytes, 0, half);
      out.flush();
      for (int i = half; i < bytes.length; i += 50_000) {
        out.write(bytes, i, Math.min(50_000, bytes.length - i));
      }
    }
    assertEquals(bytes.length, writer.getNumBytesWritten());
  }

  private byte[] read(int start, int end) throws IOException {
    MapFiles map = new MapFiles(files, SHUFFLE, TASK, start);
    VerifiedBuffer buffer = new VerifiedBuffer(map, map.plan(end));
    byte[] bytes = buffer.createInputStream().readAllBytes();
    assertEquals(bytes.length, buffer.size());
    return bytes;
  }

  private static byte[] joined(byte[][] partitions, int start, int end) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = start; i < end; i++) {
      all.writeBytes(partitions[i]);
    }
    return all.toByteArray();
  }
}
