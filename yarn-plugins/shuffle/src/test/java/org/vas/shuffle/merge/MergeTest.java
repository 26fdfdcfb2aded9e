package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.vas.shuffle.order.KeyOrder;

class MergeTest {
  private static final MemoryPlan SMALL = new MemoryPlan(0, 64 << 10, 0);

  /** Orders as Hadoop's own does, but is not known to. */
  public static final class Unknown extends BytesWritable.Comparator {}

  @Property(tries = 500)
  void isAStableSort(@ForAll("inputs") List<List<String>> inputs, @ForAll boolean known,
      @ForAll boolean batches) throws IOException {
    List<String> expected = new ArrayList<>();
    List<RecordCursor> cursors = new ArrayList<>();
    long bytes = 0;
    for (int i = 0; i < inputs.size(); i++) {
      List<byte[][]> records = records(inputs.get(i), i);
      records.forEach(each -> expected.add(text(each[0], 0, each[0].length) + "="
          + text(each[1], 0, each[1].length)));
      cursors.add(PiecesOf.cursor(records, 37));
      bytes += PiecesOf.stream(records).length - RawSize.END_MARKER;
    }
    expected.sort(Comparator.comparing(each -> each.substring(0, each.indexOf('='))));
    Merge merge = new Merge(cursors, order(known));
    Conservation all = new Conservation(expected.size(), bytes);
    assertEquals(expected, drained(batches
        ? new BatchedRecords(merge, all, check(known), SMALL, () -> {})
        : new MergedRecords(merge, all, check(known))));
  }

  private static List<String> drained(RawKeyValueIterator records) throws IOException {
    List<String> got = new ArrayList<>();
    while (records.next()) {
      got.add(text(records.getKey()) + "=" + text(records.getValue()));
    }
    assertFalse(records.next(), "once ended, it stays so");
    assertEquals(1, records.getProgress().get());
    records.close();
    records.close();
    return got;
  }

  private static String text(DataInputBuffer buffer) {
    return text(buffer.getData(), buffer.getPosition(), buffer.getLength() - buffer.getPosition());
  }

  private static String text(byte[] bytes, int offset, int length) {
    return new String(bytes, offset, length, StandardCharsets.ISO_8859_1);
  }

  // A BytesWritable's four bytes of length, then the content.
  private static List<byte[][]> records(List<String> keys, int input) {
    List<byte[][]> records = new ArrayList<>();
    keys.stream().sorted().forEach(key -> {
      byte[] bytes = ("....." + key).getBytes(StandardCharsets.ISO_8859_1);
      bytes = Arrays.copyOfRange(bytes, 1, bytes.length);
      Arrays.fill(bytes, 0, 4, (byte) '.');
      records.add(new byte[][] {
          bytes, (input + "-" + records.size()).getBytes(StandardCharsets.ISO_8859_1)});
    });
    return records;
  }

  private static KeyOrder order(boolean known) {
    JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(BytesWritable.class);
    if (!known) {
      job.setOutputKeyComparatorClass(Unknown.class);
    }
    return KeyOrder.of(job);
  }

  private static OrderCheck check(boolean known) {
    return OrderCheck.of(order(known), "here", "on purpose");
  }

  @Provide
  Arbitrary<List<List<String>>> inputs() {
    return Arbitraries.strings().withChars('a', 'b').ofMaxLength(12).list().ofMaxSize(30)
        .list().ofMaxSize(9);
  }

  @Test
  @Timeout(60)
  void withoutTheGuardAMissingRecordIsMissed() throws IOException {
    List<byte[][]> two = records(List.of("a", "b"), 0);
    Conservation promised =
        new Conservation(3, PiecesOf.stream(two).length - RawSize.END_MARKER + 10);
    IOException e = assertThrows(IOException.class, () -> drained(new BatchedRecords(
        merge(two), promised, OrderCheck.none(), SMALL, () -> {})));
    assertTrue(e.getMessage().contains("got 2 records"), e::getMessage);
    assertThrows(IOException.class, () -> drained(new MergedRecords(
        merge(two), promised, OrderCheck.none())));

    Conservation off = new Conservation(3, promised.rawBytes()) {
      @Override
      void check(long records, long bytes) {}
    };
    assertEquals(2, drained(new BatchedRecords(
        merge(two), off, OrderCheck.none(), SMALL, () -> {})).size(),
        "an answer, and a wrong one");
  }

  @Test
  @Timeout(60)
  void aCountThatIsNotRightIsToldToWhoeverAsksAgain() throws IOException {
    BatchedRecords records = new BatchedRecords(
        merge(records(List.of("a", "b"), 0)), new Conservation(3, 99), OrderCheck.none(), SMALL,
        () -> {});
    assertThrows(IOException.class, () -> drained(records));
    assertThrows(IOException.class, records::next);
  }

  private static Merge merge(List<byte[][]> records) {
    return new Merge(List.of(PiecesOf.cursor(records, 10)), order(true));
  }

  @Test
  @Timeout(60)
  void whatTheMergeThreadThrowsReachesTheReader() {
    RecordCursor bad = new RecordCursor("test", new PiecesOf(new byte[] {1, 1, 7}, 10), 9, 99);
    BatchedRecords records = new BatchedRecords(new Merge(List.of(bad), order(true)),
        new Conservation(9, 99), OrderCheck.none(), SMALL, () -> {});
    IOException e = assertThrows(IOException.class, records::next);
    assertTrue(e.getMessage().contains("in the middle of record 1"), e::getMessage);
  }

  @Test
  @Timeout(60)
  void anErrorInTheMergeThreadReachesTheReader() {
    Chunks broken = new PiecesOf(new byte[] {1, 1, 7}, 10) {
      @Override
      public boolean next() {
        throw new StackOverflowError("on purpose");
      }
    };
    BatchedRecords records = new BatchedRecords(
        new Merge(List.of(new RecordCursor("test", broken, 9, 99)), order(true)),
        new Conservation(9, 99), OrderCheck.none(), SMALL, () -> {});
    IOException e = assertThrows(IOException.class, records::next);
    assertTrue(e.getMessage().contains("StackOverflowError: on purpose"), e::getMessage);
  }

  @Test
  @Timeout(60)
  void theMergeWaitsForReduce() throws Exception {
    AtomicInteger opened = new AtomicInteger();
    List<byte[][]> records = records(Collections.nCopies(50_000, "k"), 0);
    byte[] stream = PiecesOf.stream(records);
    Chunks counted = new PiecesOf(stream, 1000) {
      @Override
      public boolean next() {
        opened.incrementAndGet();
        return super.next();
      }
    };
    RecordCursor cursor = new RecordCursor("test", counted, records.size(), stream.length);
    BatchedRecords merged = new BatchedRecords(new Merge(List.of(cursor), order(true)),
        new Conservation(records.size(), stream.length - 2), OrderCheck.none(), SMALL, () -> {});
    assertTrue(merged.next());
    long most = (MemoryPlan.BATCHES + 1) * (long) SMALL.batchBytes() / 1000 + 2;
    assertTrue(opened.get() <= most, () -> opened + " pieces, at most " + most);
    merged.close();
  }

  @Test
  @Timeout(60)
  void aRecordLargerThanABatchGetsABatchOfItsSize() {
    Batch batch = new Batch(100);
    byte[] large = new byte[1000];
    assertTrue(batch.add(large, 0, 1, 9));
    assertFalse(batch.add(large, 0, 500, 500));
    assertFalse(batch.clear());
    batch.grow(1000);
    assertTrue(batch.add(large, 0, 500, 500));
    assertEquals(1000, batch.ends()[1]);
    assertTrue(batch.clear());
    assertEquals(100, batch.data().length);
  }

  /** The second waits in the merge's thread until reduce() has let the first go. */
  @Test
  @Timeout(60)
  void ofLargeRecordsOneIsOnItsWay() throws IOException {
    List<byte[][]> records = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      records.add(RecordCursorTest.record(i % 3 == 0 ? 1 : 3, i % 3 == 0 ? 10 : 50_000 + i));
    }
    long bytes = PiecesOf.stream(records).length;
    BatchedRecords merged = new BatchedRecords(
        new Merge(List.of(PiecesOf.cursor(records, 1000)), order(true)),
        new Conservation(records.size(), bytes - 2), OrderCheck.none(), SMALL, () -> {});
    for (byte[][] each : records) {
      assertTrue(merged.next());
      assertEquals(each[1].length, merged.getValue().getLength() - merged.getValue().getPosition());
    }
    assertFalse(merged.next());
    merged.close();
  }

  @Test
  @Timeout(60)
  void theUnknownComparatorIsUnknown() {
    RawComparator<?> comparator = new Unknown();
    assertTrue(comparator instanceof WritableComparator);
    assertEquals(0, order(false).prefix(new byte[] {0, 0, 0, 1, 9}, 0, 5));
  }
}
