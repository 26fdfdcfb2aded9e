package org.vas.shuffle.mof;

/**
 * Thrown when the segments of one partition of one map cannot be described in the memory that there
 * is. The map is not to blame, and running it again does not help: the reducer needs more memory.
 */
public final class ManifestTooLargeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ManifestTooLargeException(String message) {
    super(message);
  }

  /** Throws this exception unless {@code needed} bytes are at most {@code memory}. */
  static void check(String name, long needed, long memory) {
    if (needed > memory) {
      throw new ManifestTooLargeException(name + ": its part of the manifest takes " + needed
          + " bytes of memory, " + memory + " are there: raise mapreduce.reduce.memory.mb with the"
          + " heap, or vas.shuffle.merge-percent");
    }
  }
}
