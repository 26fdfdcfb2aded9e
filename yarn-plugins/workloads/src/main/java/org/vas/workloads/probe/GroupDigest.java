package org.vas.workloads.probe;

import java.util.Iterator;
import java.util.Map;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;

/**
 * Makes the digest of one group as reduce() got it: of the keys in their order, and of the values
 * in any order, since MapReduce promises an order of keys only.
 */
final class GroupDigest {
  private long values;
  private long bytes;
  private long sum;
  private int keys = 1;

  /**
   * Returns a key and a line about its group: about all its values, or with {@code onlyLeast} about
   * {@link #least} alone, which is the same whatever combiners ran.
   */
  static Map.Entry<BytesWritable, Text> digest(
      BytesWritable key, Iterator<BytesWritable> values, boolean onlyLeast) {
    GroupDigest group = new GroupDigest();
    if (onlyLeast) {
      Map.Entry<BytesWritable, BytesWritable> least = least(key, values);
      group.add(least.getKey(), least.getValue());
      return Map.entry(least.getKey(), group.text());
    }
    while (values.hasNext()) {
      BytesWritable value = values.next();
      group.add(key, value);
    }
    return Map.entry(key, group.text());
  }

  private Text text() {
    return new Text(values + " " + bytes + " " + sum + " " + keys);
  }

  private void add(BytesWritable key, BytesWritable value) {
    values++;
    bytes += value.getLength();
    sum += value.hashCode();
    keys = 31 * keys + key.hashCode();
  }

  /**
   * Returns copies of the smallest value and of the smallest key that has it. There must be a
   * value.
   */
  static Map.Entry<BytesWritable, BytesWritable> least(
      BytesWritable key, Iterator<BytesWritable> values) {
    BytesWritable leastKey = null;
    BytesWritable least = null;
    while (values.hasNext()) {
      BytesWritable value = values.next();
      int order = least == null ? -1 : value.compareTo(least);
      if (order < 0 || (order == 0 && key.compareTo(leastKey) < 0)) {
        leastKey = new BytesWritable(key.copyBytes());
        least = new BytesWritable(value.copyBytes());
      }
    }
    return Map.entry(leastKey, least);
  }
}
