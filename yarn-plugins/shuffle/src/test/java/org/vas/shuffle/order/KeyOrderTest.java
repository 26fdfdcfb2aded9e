package org.vas.shuffle.order;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;

/** Every order agrees with its comparator, and prefixes never contradict it. */
class KeyOrderTest {
  @Property
  void text(@ForAll("contents") byte[] left, @ForAll("contents") byte[] right)
      throws IOException {
    check(Text.class, new Text(left), new Text(right));
  }

  @Property
  void bytes(@ForAll("contents") byte[] left, @ForAll("contents") byte[] right)
      throws IOException {
    check(BytesWritable.class, new BytesWritable(left), new BytesWritable(right));
  }

  @Property
  void ints(@ForAll int left, @ForAll int right) throws IOException {
    check(IntWritable.class, new IntWritable(left), new IntWritable(right));
  }

  @Property
  void longs(@ForAll long left, @ForAll long right) throws IOException {
    check(LongWritable.class, new LongWritable(left), new LongWritable(right));
  }

  @Property
  void otherClasses(@ForAll double left, @ForAll double right) throws IOException {
    check(DoubleWritable.class, new DoubleWritable(left), new DoubleWritable(right));
  }

  @Test
  void nulls() throws IOException {
    check(NullWritable.class, NullWritable.get(), NullWritable.get());
  }

  /** A subclass of a known comparator may order in any way. */
  @Test
  void aDerivedComparatorIsUnknown() throws IOException {
    JobConf job = job(LongWritable.class);
    job.setOutputKeyComparatorClass(LongWritable.DecreasingComparator.class);
    check(job, new LongWritable(1), new LongWritable(2));
    assertEquals(0, KeyOrder.of(job).prefix(raw(new LongWritable(7)), 3, 8));
  }

  @Test
  void numbersNeedNoMoreThanThePrefix() {
    assertTrue(KeyOrder.of(job(LongWritable.class)).decides(7));
    assertFalse(KeyOrder.of(job(LongWritable.class)).goesOn(8));
  }

  @Test
  void aContentOfSevenBytesIsKnownByItsPrefix() throws IOException {
    KeyOrder order = KeyOrder.of(job(Text.class));
    for (int length = 0; length < 20; length++) {
      byte[] key = raw(new Text("a".repeat(length)));
      long prefix = order.prefix(key, 3, key.length - 6);
      assertEquals(length > 0 && length <= KeyOrder.PREFIX_CONTENT, order.decides(prefix));
      assertEquals(length > KeyOrder.PREFIX_CONTENT, order.goesOn(prefix));
    }
  }

  /** As in stock: of a key that its own header says is longer, the comparator takes the length. */
  @Test
  void keysShorterThanTheirHeader() {
    KeyOrder order = KeyOrder.of(job(Text.class));
    RawComparator<?> comparator = job(Text.class).getOutputKeyComparator();
    for (int header = -128; header < 128; header++) {
      for (int left = 1; left < 12; left++) {
        for (int right = 1; right < 12; right++) {
          byte[] keys = new byte[32];
          keys[0] = (byte) header;
          keys[16] = (byte) header;
          assertEquals(Integer.signum(comparator.compare(keys, 0, left, keys, 16, right)),
              Integer.signum(order.compare(keys, 0, left, keys, 16, right)),
              header + ": " + left + ", " + right);
        }
      }
    }
  }

  // Few different bytes, so that ties and zeros at the end are common.
  @Provide
  Arbitrary<byte[]> contents() {
    return Arbitraries.of((byte) 0, (byte) 1, (byte) 0x80).array(byte[].class)
        .ofMinSize(0).ofMaxSize(12)
        .map(tail -> tail.length % 3 == 0 ? longer(tail) : tail);
  }

  private static byte[] longer(byte[] tail) {
    byte[] all = new byte[150 + tail.length];
    System.arraycopy(tail, 0, all, 150, tail.length);
    return all;
  }

  private static void check(Class<?> type, Writable left, Writable right) throws IOException {
    check(job(type), left, right);
  }

  private static void check(JobConf job, Writable left, Writable right) throws IOException {
    KeyOrder order = KeyOrder.of(job);
    RawComparator<?> comparator = job.getOutputKeyComparator();
    byte[] a = raw(left);
    byte[] b = raw(right);
    int expected = comparator.compare(a, 3, a.length - 6, b, 3, b.length - 6);
    assertEquals(Integer.signum(expected),
        Integer.signum(order.compare(a, 3, a.length - 6, b, 3, b.length - 6)));
    int prefixes = Long.compareUnsigned(
        order.prefix(a, 3, a.length - 6), order.prefix(b, 3, b.length - 6));
    assertTrue(prefixes == 0 || Integer.signum(prefixes) == Integer.signum(expected));
    assertFalse(prefixes == 0 && expected != 0
        && order.decides(order.prefix(a, 3, a.length - 6)));
    checkBehind(order, a, b, expected);
  }

  // As far as both keys go on alike, the prefix of what is behind does not contradict either.
  private static void checkBehind(KeyOrder order, byte[] a, byte[] b, int expected) {
    long left = order.prefix(a, 3, a.length - 6);
    long right = order.prefix(b, 3, b.length - 6);
    int shared = 0;
    while (left == right && order.goesOn(left)) {
      shared += KeyOrder.PREFIX_CONTENT;
      left = order.prefixBehind(a, 3, a.length - 6, shared);
      right = order.prefixBehind(b, 3, b.length - 6, shared);
      int prefixes = Integer.signum(Long.compareUnsigned(left, right));
      assertTrue(prefixes == 0 || prefixes == Integer.signum(expected));
      assertFalse(prefixes == 0 && order.decides(left) && expected != 0);
    }
  }

  // Three bytes of something else before and behind, as in a buffer of many records.
  private static byte[] raw(Writable key) throws IOException {
    DataOutputBuffer out = new DataOutputBuffer();
    out.write(new byte[] {7, 7, 7});
    key.write(out);
    out.write(new byte[] {7, 7, 7});
    return Arrays.copyOf(out.getData(), out.getLength());
  }

  private static JobConf job(Class<?> keyClass) {
    JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(keyClass);
    return job;
  }
}
