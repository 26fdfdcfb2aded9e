package org.vas.workloads.numbered;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Makes one split for each map, with one empty record to read. */
public final class NumberedMaps extends InputFormat<NullWritable, NullWritable> {
  private static final String MAPS = "numbered.maps";

  /** Sets how many maps the job has. */
  public static void setMaps(Configuration conf, int maps) {
    conf.setInt(MAPS, maps);
  }

  /** Returns the number of the map that has this split, from 0 on. */
  public static int number(InputSplit split) {
    return ((MapNumber) split).map;
  }

  @Override
  public List<InputSplit> getSplits(JobContext job) {
    List<InputSplit> splits = new ArrayList<>();
    for (int map = 0; map < job.getConfiguration().getInt(MAPS, 1); map++) {
      splits.add(new MapNumber(map));
    }
    return splits;
  }

  @Override
  public RecordReader<NullWritable, NullWritable> createRecordReader(
      InputSplit split, TaskAttemptContext context) {
    return new Once();
  }

  /** A split that holds its map's number and nothing else. */
  public static final class MapNumber extends InputSplit implements Writable {
    private int map;

    /** Makes an empty split; called by Hadoop, which then reads its fields. */
    public MapNumber() {}

    MapNumber(int map) {
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
}
