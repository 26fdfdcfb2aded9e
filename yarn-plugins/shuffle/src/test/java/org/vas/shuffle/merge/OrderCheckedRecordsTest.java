package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.order.KeyOrder;

/** Checks the order at the borders of batches, and for callers that hide the error of the check. */
@Timeout(60)
class OrderCheckedRecordsTest {
  private static RawKeyValueIterator records(
      List<byte[][]> records, Class<?> key, boolean batches) {
    int raw = PiecesOf.stream(records).length - RawSize.END_MARKER;
    Merge merge = new Merge(List.of(PiecesOf.cursor(records, 1000)), order(key));
    Conservation all = new Conservation(records.size(), raw);
    OrderCheck check = OrderCheck.of(order(key), "here", "on purpose");
    return batches
        ? new BatchedRecords(merge, all, check, new MemoryPlan(0, 64 << 10, 0), () -> {})
        : new MergedRecords(merge, all, check);
  }

  private static KeyOrder order(Class<?> key) {
    JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(key);
    return KeyOrder.of(job);
  }

  private static byte[][] text(String text) {
    byte[] key = ("." + text).getBytes(StandardCharsets.US_ASCII);
    key[0] = (byte) text.length();
    return new byte[][] {key, new byte[100]};
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void W1_whoHidesTheErrorIsToldAgain(boolean batches) throws Exception {
    RawKeyValueIterator records =
        records(List.of(text("b"), text("a"), text("c")), Text.class, batches);
    if (!batches) {
      records.next();
    }
    for (int i = 0; i < 3; i++) {
      assertThrows(DisorderException.class, records::next);
    }
    records.close();
  }

  /** Each record is of the same prefix, and batches hold a few tens of them. */
  @ParameterizedTest
  @ValueSource(ints = {1, 39, 40, 41, 99, 199})
  void W1_disorderIsSeenAcrossBatches(int at) throws Exception {
    List<byte[][]> all = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      all.add(text(String.format("a common prefix %05d", i == at ? 0 : i + 1)));
    }
    try (Closing records = new Closing(records(all, Text.class, true))) {
      DisorderException e = assertThrows(DisorderException.class, records::drain);
      assertEquals("here: record " + (at + 1) + " of the merged map outputs sorts before the one"
          + " before it, so groups would be wrong: on purpose", e.getMessage());
    }
  }

  /** A comparator sees bytes behind a key that is too short for it, in stock too. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void W1_keysTooShortForTheirComparatorFailNothing(boolean batches) throws Exception {
    List<byte[][]> all = List.of(new byte[][] {{}, {5, 0, 0, 0}}, new byte[][] {{}, {1, 0, 0, 0}},
        new byte[][] {{0, 0, 0, 7}, {}}, new byte[][] {{9}, {0, 0, 0}});
    try (Closing records = new Closing(records(all, IntWritable.class, batches))) {
      assertEquals(4, records.drain());
    }
  }

  private static final class Closing implements AutoCloseable {
    private final RawKeyValueIterator records;

    Closing(RawKeyValueIterator records) {
      this.records = records;
    }

    int drain() throws IOException {
      int count = 0;
      while (records.next()) {
        count++;
      }
      return count;
    }

    @Override
    public void close() throws IOException {
      records.close();
    }
  }
}
