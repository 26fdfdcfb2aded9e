package org.vas.shuffle.map;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.vas.shuffle.ShuffleConf;

/** How a job's MOFs are laid out. */
final class MofPolicy {
  // Declared by the file system's module, which this one does not need to be built.
  private static final String BLOCK_SIZE = "vas.lustre.block-size";
  private static final long DEFAULT_BLOCK_SIZE = 128L << 20;

  private static final String AUTO = "auto";

  private final boolean packed;
  private final long alignment;
  private final boolean synced;

  private MofPolicy(boolean packed, long alignment, boolean synced) {
    this.packed = packed;
    this.alignment = alignment;
    this.synced = synced;
  }

  /** @throws IOException if the layout is none */
  static MofPolicy of(JobConf job) throws IOException {
    return new MofPolicy(isPacked(job), ShuffleConf.ALIGNMENT.get(job),
        ShuffleConf.SYNC_DATA.get(job));
  }

  /**
   * Returns the policy of a map whose whole output is known before its first file is made: where the job leaves the
   * layout open, partitions that are smaller than a file is worth go into one.
   *
   * @param bytes of all partitions together
   */
  MofPolicy ofOutput(JobConf job, long bytes) {
    boolean isTiny = ShuffleConf.LAYOUT.get(job).equals(AUTO)
        && bytes / job.getNumReduceTasks() < ShuffleConf.PER_REDUCER_MIN.get(job);
    return isTiny ? new MofPolicy(true, alignment, synced) : this;
  }

  /** Whether all partitions go into one file. */
  boolean isPacked() {
    return packed;
  }

  /** Returns the bytes to a multiple of which each segment begins. */
  long alignment() {
    return alignment;
  }

  /** Whether MOFs are fsynced. */
  boolean isSynced() {
    return synced;
  }

  private static boolean isPacked(JobConf job) throws IOException {
    String layout = ShuffleConf.LAYOUT.get(job);
    switch (layout) {
      case "packed":
        return true;
      case "per-reducer":
        return false;
      case AUTO:
        return !areFilesWorthIt(job);
      default:
        throw new IOException(ShuffleConf.LAYOUT.name() + ": '" + layout
            + "' is none; use packed, per-reducer or auto");
    }
  }

  private static boolean areFilesWorthIt(JobConf job) {
    long reducers = job.getNumReduceTasks();
    long partitionBytes = job.getLongBytes(BLOCK_SIZE, DEFAULT_BLOCK_SIZE) / reducers;
    return partitionBytes >= ShuffleConf.PER_REDUCER_MIN.get(job)
        && job.getNumMapTasks() * reducers <= ShuffleConf.FILES_BUDGET.get(job);
  }
}
