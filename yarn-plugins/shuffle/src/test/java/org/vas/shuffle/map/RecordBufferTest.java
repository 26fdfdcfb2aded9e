package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;
import org.vas.shuffle.order.KeyOrder;

/** All records come out as they went in, whatever they are, and memory keeps its limit. */
class RecordBufferTest {
  private static final long LIMIT = 1 << 20;

  private final BufferMemory memory = new BufferMemory(LIMIT);
  private final Entries entries = new Entries(2, memory);
  private final RecordBuffer buffer = new RecordBuffer(memory, entries, order(), this::spill);
  private final Deque<byte[]> collected = new ArrayDeque<>();

  @Property(tries = 40)
  void keepsEveryRecordWithinItsMemory(@ForAll("sizes") List<Integer> sizes,
      @ForAll boolean inPieces) throws IOException {
    Random random = new Random(sizes.size());
    for (int size : sizes) {
      byte[] record = new byte[size + 4];
      random.nextBytes(record);
      System.arraycopy(new byte[4], 0, record, 0, 4);
      buffer.begin();
      write(record, 0, 4, inPieces);
      buffer.endKey();
      write(record, 4, record.length, inPieces);
      collected.add(record);
      assertEquals(record.length, buffer.end(1) - buffer.headerBytes());
      buffer.settle();
      assertTrue(memory.free() >= 0, () -> "over the limit by " + -memory.free());
    }
    if (entries.count() > 0) {
      spill();
    }
    assertEquals(0, collected.size());
    buffer.free();
    assertEquals(LIMIT, memory.free());
  }

  @Test
  void moreThanAnArrayHoldsIsAClearError() throws IOException {
    buffer.begin();
    buffer.endKey();
    byte[] part = new byte[64 << 20];
    IOException e = assertThrows(IOException.class, () -> buffer.write(part, 0, Integer.MAX_VALUE));
    assertTrue(e.getMessage().contains("have to stay below 2 GiB"), e::getMessage);
  }

  @Test
  void fewRecordsTakeLittle() throws IOException {
    BufferMemory large = new BufferMemory(1L << 30);
    RecordBuffer small = new RecordBuffer(large, new Entries(1, large), order(), () -> {});
    small.begin();
    small.writeInt(0);
    small.endKey();
    small.end(0);
    assertTrue((1L << 30) - large.free() < 2 << 20);
  }

  /** Small ones, some with long lengths, and some larger than all the memory. */
  @Provide
  Arbitrary<List<Integer>> sizes() {
    return Arbitraries.frequencyOf(
        net.jqwik.api.Tuple.of(200, Arbitraries.integers().between(0, 300)),
        net.jqwik.api.Tuple.of(20, Arbitraries.integers().between(100, 70_000)),
        net.jqwik.api.Tuple.of(1, Arbitraries.integers().between(500_000, 3_000_000)))
        .list().ofMaxSize(800);
  }

  private void write(byte[] record, int from, int to, boolean inPieces) throws IOException {
    if (!inPieces) {
      buffer.write(record, from, to - from);
      return;
    }
    for (int at = from; at < to; at += 1000) {
      buffer.write(record[at]);
      buffer.write(record, at + 1, Math.min(999, to - at - 1));
    }
  }

  // What the collector does with a full buffer, and a comparison instead of writing.
  private void spill() throws IOException {
    assertTrue(buffer.isOversized() == (memory.free() < 0));
    int count = entries.count();
    assertTrue(!buffer.isOversized() || count == 1);
    Records records = buffer.records();
    long[] places = entries.byPartition();
    assertEquals(2 * count, places.length);
    assertEquals(count, entries.count(1));
    for (int i = 0; i < count; i++) {
      long place = places[2 * i + 1];
      byte[] block = records.block(place);
      int start = Records.keyOffset(block, Entries.offset(place));
      byte[] expected = collected.remove();
      Heads heads = new Heads(records);
      assertTrue(heads.read(places, i, count) > 0);
      assertEquals(start, heads.key(0));
      assertEquals(start + expected.length, heads.end(0));
      assertArrayEquals(expected, Arrays.copyOfRange(block, start, start + expected.length));
    }
    buffer.clear();
  }

  private static KeyOrder order() {
    JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(BytesWritable.class);
    return KeyOrder.of(job);
  }
}
