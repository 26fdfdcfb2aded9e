package org.apache.spark.shuffle.vas;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.vas.filesystem.PredictableNames;

/** The two files of one map output, as a reader of some of its partitions sees them. */
final class MapFiles {
  private final ApplicationFiles files;
  private final int shuffle;
  private final long task;
  private final int start;
  private final Tally tally;

  /**
   * Names the files of a map that a reduce task will read; opens none.
   *
   * @param task the task attempt that wrote the files: Spark's map id
   * @param start the first partition, for errors
   */
  MapFiles(ApplicationFiles files, int shuffle, long task, int start) {
    this.files = files;
    this.shuffle = shuffle;
    this.task = task;
    this.start = start;
    this.tally = files.tally();
  }

  /**
   * Reads where the partitions from the first on and before {@code end} are.
   *
   * @throws BadMapOutputException if the index is missing or not what the map wrote
   * @throws StorageAwayException if no map is to blame
   */
  BlockPlan plan(int end) {
    try {
      byte[] kept = files.indexes().find(shuffle, task);
      if (kept == null) {
        return planByFile(end);
      }
      tally.count(WorkKind.KEPT_INDEXES);
      return BlockPlan.read(IndexSource.of(kept), shuffle, task, start, end);
    } catch (IOException e) {
      throw failure(e);
    }
  }

  private BlockPlan planByFile(int end) throws IOException {
    try (FSDataInputStream in = files.open(shuffle, PredictableNames.sparkIndex(task), tally)) {
      tally.count(WorkKind.READS);
      IndexSource index = IndexSource.of(in);
      BlockPlan plan = BlockPlan.read(index, shuffle, task, start, end);
      if (index.whole() != null) {
        files.indexes().keep(shuffle, task, index.whole());
      }
      return plan;
    }
  }

  /** Opens the data file. */
  FSDataInputStream openData() throws IOException {
    return files.open(shuffle, PredictableNames.sparkData(task), tally);
  }

  /** Returns where the work for these files is counted. */
  Tally tally() {
    return tally;
  }

  /**
   * Returns the exception for a caller to throw that could not read a file of this map: {@link
   * BadMapOutputException} if the application's other files can be seen, else {@link
   * StorageAwayException}. A task that is being killed blames nobody.
   */
  RuntimeException failure(IOException cause) {
    String message = files.shuffle(shuffle) + ": task attempt " + task + ", partition " + start
        + ": " + cause.getMessage();
    if (Thread.currentThread().isInterrupted()) {
      return new UncheckedIOException(message, cause);
    }
    return files.canBeSeen() ? new BadMapOutputException(task, start, message, cause)
        : new StorageAwayException(message + "; is Lustre mounted on this machine?", cause);
  }
}
