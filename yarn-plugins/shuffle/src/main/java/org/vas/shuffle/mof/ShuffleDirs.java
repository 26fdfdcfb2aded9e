package org.vas.shuffle.mof;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.vas.filesystem.PredictableNames;

/** The directories of one job's map output. */
public final class ShuffleDirs {
  /** The name of a map attempt's manifest, by which its output is published. */
  public static final String MANIFEST = PredictableNames.MANIFEST;
  /** The name of the one map output file in the packed layout. */
  public static final String PACKED = PredictableNames.PACKED;

  private final Path root;

  /**
   * Finds the directories of the job that a configuration belongs to.
   *
   * @throws IOException if it is not the configuration of a submitted job
   */
  public ShuffleDirs(Configuration conf) throws IOException {
    String jobDir = conf.get(MRJobConfig.MAPREDUCE_JOB_DIR);
    if (jobDir == null) {
      throw new IOException(MRJobConfig.MAPREDUCE_JOB_DIR
          + " is not set; submit the job with Hadoop's JobSubmitter, which sets it");
    }
    this.root = new Path(jobDir, PredictableNames.SHUFFLE);
  }

  /**
   * Returns the job's staging directory, which this class only reads: it is gone when the job is.
   */
  public Path jobDir() {
    return root.getParent();
  }

  /** Returns the directory of all attempts of the job. */
  public Path root() {
    return root;
  }

  /** Returns the directory of one attempt of a map or a reduce. */
  public Path attempt(TaskAttemptID attempt) {
    return new Path(root, attempt.toString());
  }

  public Path manifest(TaskAttemptID attempt) {
    return new Path(attempt(attempt), MANIFEST);
  }

  /** Returns the file of one partition in the layout per-reducer. */
  public static String perReducer(int partition) {
    return PredictableNames.perReducer(partition);
  }
}
