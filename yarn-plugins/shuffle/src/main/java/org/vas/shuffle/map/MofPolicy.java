package org.vas.shuffle.map;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.vas.shuffle.ShuffleConf;

/** Decides how the map output files of a job are laid out, aligned and synced. */
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

  /**
   * Returns the policy that a job's configuration asks for.
   *
   * @throws IOException if the configured layout is not one of those that exist
   */
  static MofPolicy of(JobConf job) throws IOException {
    return new MofPolicy(isPacked(job), ShuffleConf.ALIGNMENT.get(job),
        ShuffleConf.SYNC_DATA.get(job));
  }

  /** Returns the policy of stock's layout: one file without gaps, left to the page cache. */
  static MofPolicy oneFile() {
    return new MofPolicy(true, 1, false);
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

  /** Returns whether all partitions go into one file, instead of one file for each. */
  boolean isPacked() {
    return packed;
  }

  /** Returns the alignment in bytes: each segment begins at a multiple of it. */
  long alignment() {
    return alignment;
  }

  /** Returns whether the map output files are fsynced before they are published. */
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
            + "' is not a layout; use packed, per-reducer or auto");
    }
  }

  private static boolean areFilesWorthIt(JobConf job) {
    long reducers = job.getNumReduceTasks();
    long partitionBytes = job.getLongBytes(BLOCK_SIZE, DEFAULT_BLOCK_SIZE) / reducers;
    return partitionBytes >= ShuffleConf.PER_REDUCER_MIN.get(job)
        && job.getNumMapTasks() * reducers <= ShuffleConf.FILES_BUDGET.get(job);
  }
}
