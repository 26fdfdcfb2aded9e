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

/** Every order is its comparator's, and prefixes never contradict it. */
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
    assertTrue(KeyOrder.of(job(LongWritable.class)).decides());
    assertFalse(KeyOrder.of(job(Text.class)).decides());
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
    assertFalse(order.decides() && prefixes == 0 && expected != 0);
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
