package org.apache.spark.shuffle.vas;

/**
 * Thrown when the application's directory cannot be read from this machine: no map is to blame, and
 * the task fails, to be tried on another machine. Unchecked for the same reason as {@link
 * BadMapOutputException}.
 */
final class StorageAwayException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StorageAwayException(String message, Throwable cause) {
    super(message, cause);
  }
}
