package org.vas.shuffle.reduce;

import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.vas.shuffle.ShuffleConf;

/** Computes how much of its heap a reducer may use. */
final class HeapShare {
  private final long heap;
  private final double before;
  private final double beside;

  /**
   * Reads from a job's configuration which shares of the heap its reducers may use.
   *
   * @throws IllegalArgumentException that names the key, if a share is not between 0 and 1
   */
  HeapShare(JobConf job) {
    this.heap =
        job.getLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, Runtime.getRuntime().maxMemory());
    this.before = job.getFloat(MRJobConfig.SHUFFLE_INPUT_BUFFER_PERCENT,
        MRJobConfig.DEFAULT_SHUFFLE_INPUT_BUFFER_PERCENT);
    if (before < 0 || before > 1) {
      throw new IllegalArgumentException(MRJobConfig.SHUFFLE_INPUT_BUFFER_PERCENT + ": " + before
          + " is not a share; use 0 to 1");
    }
    this.beside = Math.min(before, ShuffleConf.MERGE_PERCENT.get(job) / 100.0);
  }

  /** Returns the bytes for passes before reduce(), as stock computes them from the same keys. */
  long beforeReduce() {
    return (long) (heap * before);
  }

  /** Returns the bytes for the merge that reduce() reads from, while reduce() runs. */
  long besideReduce() {
    return (long) (heap * beside);
  }
}
