package org.vas.workloads.probe;

import java.io.IOException;
import java.util.SplittableRandom;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Mapper;
import org.vas.workloads.numbered.NumberedMaps;

/** Emits all records of its map. */
public final class NewMapper
    extends Mapper<NullWritable, NullWritable, BytesWritable, BytesWritable> {
  @Override
  protected void map(NullWritable none, NullWritable nothing, Context context)
      throws IOException, InterruptedException {
    Shape shape = new Shape(context.getConfiguration());
    int map = NumberedMaps.number(context.getInputSplit());
    SplittableRandom random = shape.random(map);
    BytesWritable key = new BytesWritable();
    BytesWritable value = new BytesWritable();
    for (int i = shape.records(map); i > 0; i--) {
      shape.next(random, key, value);
      context.write(key, value);
    }
  }
}
