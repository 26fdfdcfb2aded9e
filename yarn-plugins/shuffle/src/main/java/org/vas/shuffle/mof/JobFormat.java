package org.vas.shuffle.mof;

import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.CryptoUtils;

/** The properties that every manifest of a job must have. */
public final class JobFormat {
  private final int partitions;
  private final boolean compressed;
  private final boolean encrypted;

  public JobFormat(int partitions, boolean compressed, boolean encrypted) {
    this.partitions = partitions;
    this.compressed = compressed;
    this.encrypted = encrypted;
  }

  public static JobFormat of(JobConf job) {
    return new JobFormat(job.getNumReduceTasks(), job.getCompressMapOutput(),
        CryptoUtils.isEncryptedSpillEnabled(job));
  }

  /** Returns whether stored bytes are raw bytes and IFile's checksum. */
  public boolean plain() {
    return !compressed && !encrypted;
  }

  /** Returns the job's number of reducers. */
  int partitions() {
    return partitions;
  }

  void check(TaskAttemptID attempt, Manifest manifest) throws ManifestException {
    require(manifest.attempt().equals(attempt.toString()), "is of " + manifest.attempt());
    require(manifest.partitions() == partitions,
        "has " + manifest.partitions() + " partitions, the job has " + partitions);
    require(manifest.compressed() == compressed, "says compressed=" + manifest.compressed());
    require(manifest.encrypted() == encrypted, "says encrypted=" + manifest.encrypted());
  }

  private static void require(boolean holds, String otherwise) throws ManifestException {
    if (!holds) {
      throw new ManifestException("not this job's manifest: it " + otherwise);
    }
  }
}
