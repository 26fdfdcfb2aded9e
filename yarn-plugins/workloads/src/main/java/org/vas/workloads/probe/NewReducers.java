package org.vas.workloads.probe;

import java.io.IOException;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/** The probe's reducers for org.apache.hadoop.mapreduce. */
final class NewReducers {
  private NewReducers() {}

  /** Writes what it saw of each group. */
  public static final class Digest
      extends Reducer<BytesWritable, BytesWritable, BytesWritable, Text> {
    @Override
    protected void reduce(BytesWritable key, Iterable<BytesWritable> values, Context context)
        throws IOException, InterruptedException {
      Group group = new Group();
      for (BytesWritable value : values) {
        group.add(key, value);
      }
      context.write(key, group.text());
    }
  }

  /** Keeps a key's smallest value: whatever the runs are, the least of all is the same. */
  public static final class Least
      extends Reducer<BytesWritable, BytesWritable, BytesWritable, BytesWritable> {
    @Override
    protected void reduce(BytesWritable key, Iterable<BytesWritable> values, Context context)
        throws IOException, InterruptedException {
      context.write(key, Group.least(values.iterator()));
    }
  }

  /** Writes what it saw of each group's smallest value. */
  public static final class LeastDigest
      extends Reducer<BytesWritable, BytesWritable, BytesWritable, Text> {
    @Override
    protected void reduce(BytesWritable key, Iterable<BytesWritable> values, Context context)
        throws IOException, InterruptedException {
      Group group = new Group();
      group.add(key, Group.least(values.iterator()));
      context.write(key, group.text());
    }
  }
}
