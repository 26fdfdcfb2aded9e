package org.vas.workloads.probe;

import java.util.Arrays;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;

/**
 * What reduce() saw of one group: the keys in their order, the values without one, since MapReduce
 * promises an order of keys only.
 */
final class Group {
  private long values;
  private long bytes;
  private long sum;
  private int keys = 1;

  void add(BytesWritable key, BytesWritable value) {
    values++;
    bytes += value.getLength();
    sum += hash(value);
    keys = 31 * keys + hash(key);
  }

  Text text() {
    return new Text(values + " " + bytes + " " + sum + " " + keys);
  }

  private static int hash(BytesWritable writable) {
    return Arrays.hashCode(writable.copyBytes());
  }
}
