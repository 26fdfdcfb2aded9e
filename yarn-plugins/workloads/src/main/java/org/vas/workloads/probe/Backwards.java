package org.vas.workloads.probe;

import org.apache.hadoop.io.BytesWritable;

/** Sorts keys of BytesWritable from the largest to the smallest. */
public final class Backwards extends BytesWritable.Comparator {
  @Override
  public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
    return super.compare(b2, s2, l2, b1, s1, l1);
  }
}
