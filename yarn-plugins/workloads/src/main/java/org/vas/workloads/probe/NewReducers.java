package org.vas.workloads.probe;

import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/** The probe's reducers for org.apache.hadoop.mapreduce. */
final class NewReducers {
  private NewReducers() {}

  /** Writes the digest of each group. */
  public static final class Digest
      extends Reducer<BytesWritable, BytesWritable, BytesWritable, Text> {
    private boolean combined;

    @Override
    protected void setup(Context context) {
      combined = ProbeConf.COMBINE.get(context.getConfiguration());
    }

    @Override
    protected void reduce(BytesWritable key, Iterable<BytesWritable> values, Context context)
        throws IOException, InterruptedException {
      Map.Entry<BytesWritable, Text> seen = GroupDigest.digest(key, values.iterator(), combined);
      context.write(seen.getKey(), seen.getValue());
    }
  }

  /** Emits a group's smallest value alone: whatever the runs are, the least of all is the same. */
  public static final class Least
      extends Reducer<BytesWritable, BytesWritable, BytesWritable, BytesWritable> {
    @Override
    protected void reduce(BytesWritable key, Iterable<BytesWritable> values, Context context)
        throws IOException, InterruptedException {
      Map.Entry<BytesWritable, BytesWritable> least = GroupDigest.least(key, values.iterator());
      context.write(least.getKey(), least.getValue());
    }
  }
}
