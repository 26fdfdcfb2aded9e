package org.vas.workloads.probe;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** The probe's parts for org.apache.hadoop.mapreduce. */
final class NewApi {
  private NewApi() {}

  /** One split for each map; there is nothing to read. */
  public static final class Numbers extends InputFormat<NullWritable, NullWritable> {
    @Override
    public List<InputSplit> getSplits(JobContext job) {
      List<InputSplit> splits = new ArrayList<>();
      for (int map = 0; map < ProbeConf.MAPS.get(job.getConfiguration()); map++) {
        splits.add(new Number(map));
      }
      return splits;
    }

    @Override
    public RecordReader<NullWritable, NullWritable> createRecordReader(
        InputSplit split, TaskAttemptContext context) {
      return new Once();
    }
  }

  /** A split that is its map's number. */
  public static final class Number extends InputSplit implements Writable {
    private int map;

    /** For Hadoop. */
    public Number() {}

    Number(int map) {
      this.map = map;
    }

    @Override
    public long getLength() {
      return 0;
    }

    @Override
    public String[] getLocations() {
      return new String[0];
    }

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeInt(map);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      map = in.readInt();
    }
  }

  private static final class Once extends RecordReader<NullWritable, NullWritable> {
    private boolean read;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {}

    @Override
    public boolean nextKeyValue() {
      boolean first = !read;
      read = true;
      return first;
    }

    @Override
    public NullWritable getCurrentKey() {
      return NullWritable.get();
    }

    @Override
    public NullWritable getCurrentValue() {
      return NullWritable.get();
    }

    @Override
    public float getProgress() {
      return read ? 1 : 0;
    }

    @Override
    public void close() {}
  }

  /** Emits all records of its map. */
  public static final class Emit
      extends Mapper<NullWritable, NullWritable, BytesWritable, BytesWritable> {
    @Override
    protected void map(NullWritable none, NullWritable nothing, Context context)
        throws IOException, InterruptedException {
      Shape shape = new Shape(context.getConfiguration());
      int map = ((Number) context.getInputSplit()).map;
      SplittableRandom random = shape.random(map);
      BytesWritable key = new BytesWritable();
      BytesWritable value = new BytesWritable();
      for (int i = shape.records(map); i > 0; i--) {
        shape.next(random, key, value);
        context.write(key, value);
      }
    }
  }

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
      BytesWritable least = null;
      for (BytesWritable value : values) {
        if (least == null || value.compareTo(least) < 0) {
          least = new BytesWritable(value.copyBytes());
        }
      }
      context.write(key, least);
    }
  }
}
