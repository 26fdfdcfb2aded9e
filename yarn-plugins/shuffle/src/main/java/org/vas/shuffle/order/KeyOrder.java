package org.vas.shuffle.order;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.vas.shuffle.HadoopClasses;

/**
 * The order of a job's serialised keys: first by an 8-byte prefix, then, on a tie, by more.
 *
 * <p>A prefix is an unsigned number. {@code prefix(a) < prefix(b)} means that a comes before b; equal
 * prefixes say nothing, unless {@link #decides}. Where the comparator is not one of Hadoop's own
 * for Text, BytesWritable, IntWritable, LongWritable and NullWritable, every prefix is 0.
 */
public abstract class KeyOrder {
  /** The bytes of a key's content in a prefix, whose last byte says whether there are more. */
  public static final int PREFIX_CONTENT = Long.BYTES - 1;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** Returns the order of the job's sort comparator. */
  public static KeyOrder of(JobConf job) {
    return of(job.getOutputKeyComparator());
  }

  /**
   * Returns the order of this comparator: known only for exactly the class that defines it, and
   * only where that class is not a copy of the job's own.
   */
  public static KeyOrder of(RawComparator<?> comparator) {
    Class<?> kind = comparator.getClass();
    if (!HadoopClasses.include(kind)) {
      return new ComparatorOrder(comparator);
    } else if (kind == Text.Comparator.class) {
      return new TextOrder();
    } else if (kind == BytesWritable.Comparator.class) {
      return new BytesOrder();
    } else if (kind == IntWritable.Comparator.class) {
      return new IntOrder();
    } else if (kind == LongWritable.Comparator.class) {
      return new LongOrder();
    } else if (kind == NullWritable.Comparator.class) {
      return new NullOrder();
    }
    return new ComparatorOrder(comparator);
  }

  /** Returns whether this code knows the order, and never calls the comparator. */
  public boolean isKnown() {
    return true;
  }

  /**
   * Returns the length in bytes from which on a key is compared by its own bytes alone; of a
   * shorter one the comparator reads bytes that follow it.
   */
  public abstract int shortestKey();

  /** Returns the prefix of the serialised key in these bytes. */
  public abstract long prefix(byte[] bytes, int offset, int length);

  /** Returns whether all keys that have this prefix are equal. */
  public abstract boolean decides(long prefix);

  /**
   * Returns whether keys of this prefix have more content, of which {@link #prefixBehind} is the
   * prefix.
   */
  public boolean goesOn(long prefix) {
    return false;
  }

  /**
   * Returns the prefix of what a key has behind the content that it shares with others, for a key
   * whose last prefix {@link #goesOn}.
   *
   * <p>An order whose prefixes never go on has no such prefix, and is never asked.
   *
   * @param shared how many bytes of content they share: {@link #PREFIX_CONTENT} for each prefix
   */
  public long prefixBehind(byte[] bytes, int offset, int length, int shared) {
    throw new UnsupportedOperationException("no prefix of these keys goes on");
  }

  /** Compares two serialised keys that have the same prefix. */
  public abstract int compareTied(byte[] left, int leftOffset, int leftLength,
      byte[] right, int rightOffset, int rightLength);

  /** Compares two serialised keys. */
  public final int compare(byte[] left, int leftOffset, int leftLength,
      byte[] right, int rightOffset, int rightLength) {
    int order = Long.compareUnsigned(prefix(left, leftOffset, leftLength),
        prefix(right, rightOffset, rightLength));
    return order != 0 ? order
        : compareTied(left, leftOffset, leftLength, right, rightOffset, rightLength);
  }

  /** Returns the first 8 of these bytes, the missing ones as zeros. */
  static long first8(byte[] bytes, int offset, int length) {
    if (length >= Long.BYTES) {
      return (long) LONG.get(bytes, offset);
    }
    long value = 0;
    for (int i = 0; i < length; i++) {
      value |= (bytes[offset + i] & 0xffL) << (56 - 8 * i);
    }
    return value;
  }
}
