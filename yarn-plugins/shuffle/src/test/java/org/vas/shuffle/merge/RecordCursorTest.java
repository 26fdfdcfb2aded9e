package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.vas.shuffle.mof.Segment;

class RecordCursorTest {
  @Property(tries = 500)
  void piecesOfAnySizeGiveTheSameRecords(@ForAll("records") List<byte[][]> records,
      @ForAll @IntRange(min = 1, max = 400) int size) throws IOException {
    RecordCursor cursor = PiecesOf.cursor(records, size);
    for (byte[][] each : records) {
      assertTrue(cursor.next());
      cursor.whole();
      int middle = cursor.offset() + cursor.keyLength();
      assertArrayEquals(each[0], Arrays.copyOfRange(cursor.data(), cursor.offset(), middle));
      assertArrayEquals(each[1],
          Arrays.copyOfRange(cursor.data(), middle, middle + cursor.valueLength()));
    }
    assertFalse(cursor.next());
  }

  /** Any changed byte gives records of the same bytes in all, or one IOException. */
  @Property(tries = 2000)
  void nonsenseIsOneClearError(@ForAll("records") List<byte[][]> records, @ForAll int at,
      @ForAll byte change, @ForAll @IntRange(min = 1, max = 400) int size) {
    byte[] stream = PiecesOf.stream(records);
    stream[Math.floorMod(at, stream.length)] ^= change;
    RecordCursor cursor =
        new RecordCursor("test", new PiecesOf(stream, size), records.size(), stream.length);
    int count = 0;
    try {
      while (cursor.next()) {
        cursor.whole();
        count++;
      }
      assertEquals(records.size(), count);
    } catch (IOException e) {
      assertTrue(e.getMessage().startsWith("test: "), e::getMessage);
    }
  }

  @Test
  void recordsThatNobodyCountedAreHeldToTheirBytes() throws IOException {
    byte[] stream = PiecesOf.stream(List.of(record(3, 4), record(5, 6)));
    RecordCursor right =
        new RecordCursor("test", new PiecesOf(stream, 7), Segment.UNCOUNTED, stream.length);
    RecordCursor wrong =
        new RecordCursor("test", new PiecesOf(stream, 7), Segment.UNCOUNTED, stream.length + 1);
    for (RecordCursor each : List.of(right, wrong)) {
      assertTrue(each.next());
      assertTrue(each.next());
    }
    assertFalse(right.next());
    assertThrows(IOException.class, wrong::next);
  }

  @Test
  void theValueOfALargeRecordIsReadWhenItIsAskedFor() throws IOException {
    RecordCursor cursor = PiecesOf.cursor(List.of(record(7, 100_000), record(3, 4)), 1000);
    assertTrue(cursor.next());
    assertEquals(7, cursor.data().length);
    assertEquals(100_000, cursor.valueLength());
    cursor.whole();
    cursor.whole();
    assertArrayEquals(record(7, 100_000)[1], Arrays.copyOfRange(cursor.data(), 7, 100_007));
    assertTrue(cursor.next());
    assertFalse(cursor.next());
  }

  @Test
  void lessThanPromisedIsAnError() {
    byte[] stream = PiecesOf.stream(Collections.singletonList(record(3, 4)));
    assertError("1 records in 11 bytes, but 2 in 11", stream, 2, 11);
    assertError("1 records in 11 bytes, but 1 in 12", stream, 1, 12);
    assertError("ends in the middle of record 2", Arrays.copyOf(stream, 9), 1, 11);
  }

  private static void assertError(String message, byte[] stream, long records, long bytes) {
    RecordCursor cursor = new RecordCursor("test", new PiecesOf(stream, 5), records, bytes);
    IOException e = assertThrows(IOException.class, () -> {
      while (cursor.next()) {
        assertTrue(cursor.keyLength() >= 0);
      }
    });
    assertTrue(e.getMessage().contains(message), e::getMessage);
  }

  static byte[][] record(int key, int value) {
    byte[][] record = {new byte[key], new byte[value]};
    Arrays.fill(record[0], (byte) key);
    Arrays.fill(record[1], (byte) value);
    return record;
  }

  @Provide
  Arbitrary<List<byte[][]>> records() {
    Arbitrary<Integer> lengths = Arbitraries.frequencyOf(
        Tuple.of(5, Arbitraries.integers().between(0, 20)),
        Tuple.of(1, Arbitraries.integers().between(100, 1000)),
        Tuple.of(1, Arbitraries.integers().between(4000, 9000)));
    return lengths.tuple2().map(t -> record(t.get1(), t.get2())).list().ofMaxSize(30);
  }
}
