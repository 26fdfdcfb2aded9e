package org.vas.workloads.probe;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Iterator;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.Mapper;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapred.Reporter;

/** The probe's classes for org.apache.hadoop.mapred. */
final class OldApi {
  private OldApi() {}

  /** Makes one split for each map, with nothing to read. */
  public static final class NumberedInput implements InputFormat<NullWritable, NullWritable> {
    @Override
    public InputSplit[] getSplits(JobConf job, int hint) {
      InputSplit[] splits = new InputSplit[ProbeConf.MAPS.get(job)];
      for (int map = 0; map < splits.length; map++) {
        splits[map] = new NumberedSplit(map);
      }
      return splits;
    }

    @Override
    public RecordReader<NullWritable, NullWritable> getRecordReader(
        InputSplit split, JobConf job, Reporter reporter) {
      return new Once();
    }
  }

  /** A split that holds its map's number and nothing else. */
  public static final class NumberedSplit implements InputSplit {
    private int map;

    /** Makes an empty split; called by Hadoop, which then reads its fields. */
    public NumberedSplit() {}

    NumberedSplit(int map) {
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

  private static final class Once implements RecordReader<NullWritable, NullWritable> {
    private boolean read;

    @Override
    public boolean next(NullWritable key, NullWritable value) {
      boolean first = !read;
      read = true;
      return first;
    }

    @Override
    public NullWritable createKey() {
      return NullWritable.get();
    }

    @Override
    public NullWritable createValue() {
      return NullWritable.get();
    }

    @Override
    public long getPos() {
      return 0;
    }

    @Override
    public float getProgress() {
      return read ? 1 : 0;
    }

    @Override
    public void close() {}
  }

  /** Emits all records of its map. */
  public static final class Emit extends MapReduceBase
      implements Mapper<NullWritable, NullWritable, BytesWritable, BytesWritable> {
    private Shape shape;

    @Override
    public void configure(JobConf job) {
      shape = new Shape(job);
    }

    @Override
    public void map(NullWritable none, NullWritable nothing,
        OutputCollector<BytesWritable, BytesWritable> output, Reporter reporter)
        throws IOException {
      int map = ((NumberedSplit) reporter.getInputSplit()).map;
      SplittableRandom random = shape.random(map);
      BytesWritable key = new BytesWritable();
      BytesWritable value = new BytesWritable();
      for (int i = shape.records(map); i > 0; i--) {
        shape.next(random, key, value);
        output.collect(key, value);
      }
    }
  }

  /** Writes the digest of each group. */
  public static final class DigestReducer extends MapReduceBase
      implements Reducer<BytesWritable, BytesWritable, BytesWritable, Text> {
    private boolean combined;

    @Override
    public void configure(JobConf job) {
      combined = ProbeConf.COMBINE.get(job);
    }

    @Override
    public void reduce(BytesWritable key, Iterator<BytesWritable> values,
        OutputCollector<BytesWritable, Text> output, Reporter reporter) throws IOException {
      Map.Entry<BytesWritable, Text> seen = GroupDigest.digest(key, values, combined);
      output.collect(seen.getKey(), seen.getValue());
    }
  }

  /** Emits a group's smallest value alone. */
  public static final class LeastCombiner extends MapReduceBase
      implements Reducer<BytesWritable, BytesWritable, BytesWritable, BytesWritable> {
    @Override
    public void reduce(BytesWritable key, Iterator<BytesWritable> values,
        OutputCollector<BytesWritable, BytesWritable> output, Reporter reporter)
        throws IOException {
      Map.Entry<BytesWritable, BytesWritable> least = GroupDigest.least(key, values);
      output.collect(least.getKey(), least.getValue());
    }
  }
}
