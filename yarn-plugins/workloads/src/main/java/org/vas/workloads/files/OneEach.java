package org.vas.workloads.files;

import java.io.IOException;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.Mapper;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;

/** Emits a record for each reducer: Hadoop's partitioner sends number n to reducer n. */
public final class OneEach extends MapReduceBase
    implements Mapper<LongWritable, Text, IntWritable, NullWritable> {
  private int reducers;

  @Override
  public void configure(JobConf job) {
    reducers = job.getNumReduceTasks();
  }

  @Override
  public void map(LongWritable offset, Text line,
      OutputCollector<IntWritable, NullWritable> output, Reporter reporter) throws IOException {
    for (int reducer = 0; reducer < reducers; reducer++) {
      output.collect(new IntWritable(reducer), NullWritable.get());
    }
  }
}
