package org.vas.workloads.probe;

import java.util.Iterator;
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
    sum += value.hashCode();
    keys = 31 * keys + key.hashCode();
  }

  /** A copy of the smallest of the values; there is one at least. */
  static BytesWritable least(Iterator<BytesWritable> values) {
    BytesWritable least = new BytesWritable(values.next().copyBytes());
    while (values.hasNext()) {
      BytesWritable value = values.next();
      if (value.compareTo(least) < 0) {
        least = new BytesWritable(value.copyBytes());
      }
    }
    return least;
  }

  Text text() {
    return new Text(values + " " + bytes + " " + sum + " " + keys);
  }
}
