package org.vas.workloads.probe;

import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Partitioner;

/**
 * Chooses a key's reducer by its first two bytes, so that a group goes to one reducer; in both
 * APIs.
 */
public final class FirstBytePartitioner extends Partitioner<BytesWritable, BytesWritable>
    implements org.apache.hadoop.mapred.Partitioner<BytesWritable, BytesWritable> {
  @Override
  public void configure(JobConf job) {}

  @Override
  public int getPartition(BytesWritable key, BytesWritable value, int partitions) {
    byte[] bytes = key.getBytes();
    return (((bytes[0] & 0xff) << 8) | (bytes[1] & 0xff)) % partitions;
  }
}
