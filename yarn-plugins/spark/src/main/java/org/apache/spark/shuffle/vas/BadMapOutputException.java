package org.apache.spark.shuffle.vas;

/**
 * Thrown when one map's output is missing or not what the map wrote: the map must run again.
 *
 * <p>It is unchecked so that it passes through Spark's fetcher, which asks the network for a block
 * once more when its stream throws an {@code IOException}; {@link VasShuffleReader} turns it into
 * Spark's {@code FetchFailedException}.
 */
final class BadMapOutputException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final long taskAttempt;
  private final int partition;

  /**
   * Makes the error of one map output.
   *
   * @param taskAttempt the task attempt that wrote it: Spark's map id
   * @param partition the first partition that could not be read
   */
  BadMapOutputException(long taskAttempt, int partition, String message, Throwable cause) {
    super(message, cause);
    this.taskAttempt = taskAttempt;
    this.partition = partition;
  }

  /** Returns the attempt of the map task that wrote the output: Spark's map id. */
  long taskAttempt() {
    return taskAttempt;
  }

  /** Returns the first partition that could not be read. */
  int partition() {
    return partition;
  }
}
