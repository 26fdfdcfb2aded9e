package org.vas.workloads.probe;

import java.util.Arrays;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.WritableComparator;

/** Groups keys by their first two bytes. */
public final class FirstBytes extends WritableComparator {
  private static final int LENGTH_BYTES = 4;
  private static final int PREFIX = 2;

  /** Makes the comparator; called by Hadoop. */
  public FirstBytes() {
    super(BytesWritable.class);
  }

  @Override
  public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
    return Arrays.compareUnsigned(b1, s1 + LENGTH_BYTES, s1 + LENGTH_BYTES + PREFIX,
        b2, s2 + LENGTH_BYTES, s2 + LENGTH_BYTES + PREFIX);
  }
}
