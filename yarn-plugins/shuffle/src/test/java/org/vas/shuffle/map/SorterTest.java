package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapred.JobConf;
import org.vas.shuffle.order.KeyOrder;

/** The sorter's result is the stable sort by the job's comparator, whatever the keys are. */
class SorterTest {
  @Property(tries = 300)
  void sortsBytes(@ForAll("contents") List<byte[]> contents) throws Exception {
    List<BytesWritable> keys = new ArrayList<>();
    contents.forEach(content -> keys.add(new BytesWritable(content)));
    check(BytesWritable.class, null, keys);
    check(BytesWritable.class, Unknown.class, keys);
  }

  @Property(tries = 300)
  void sortsNumbers(@ForAll("numbers") List<Long> numbers) throws Exception {
    List<LongWritable> keys = new ArrayList<>();
    numbers.forEach(number -> keys.add(new LongWritable(number)));
    check(LongWritable.class, null, keys);
    check(LongWritable.class, LongWritable.DecreasingComparator.class, keys);
  }

  // Common beginnings, common bytes in the middle, and keys in many copies.
  @Provide
  Arbitrary<List<byte[]>> contents() {
    Arbitrary<byte[]> any = Arbitraries.bytes().array(byte[].class).ofMaxSize(12);
    Arbitrary<byte[]> alike = Arbitraries.strings().withChars("ab").ofMaxLength(14)
        .map(tail -> ("same" + tail).getBytes(StandardCharsets.US_ASCII));
    Arbitrary<byte[]> longer = Arbitraries.of("a", "b", "\0").list().ofMaxSize(3)
        .map(tail -> ("x".repeat(27) + String.join("y".repeat(9), tail)).getBytes(
            StandardCharsets.US_ASCII));
    return Arbitraries.oneOf(any, alike, longer).list().ofMaxSize(600);
  }

  @Provide
  Arbitrary<List<Long>> numbers() {
    return Arbitraries.oneOf(Arbitraries.longs(), Arbitraries.longs().between(-300, 300))
        .list().ofMaxSize(3000);
  }

  private static void check(Class<?> type, Class<? extends WritableComparator> comparator,
      List<? extends WritableComparable<?>> keys) throws Exception {
    JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(type);
    if (comparator != null) {
      job.setOutputKeyComparatorClass(comparator);
    }
    Filled filled = new Filled(job, keys);
    EntrySorter sorter = new EntrySorter(KeyOrder.of(job), filled.records(), () -> {});
    sorter.sort(filled.sorted(), 0, keys.size());
    assertEquals(filled.expected(job), filled.actual());
  }

  /** A comparator of which nothing is known. */
  public static final class Unknown extends BytesWritable.Comparator {
    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return -super.compare(b1, s1, l1, b2, s2, l2);
    }
  }
}
