package org.vas.shuffle.report;

/** A number that a reduce task reports, in the order of a line of {@link TaskReads}. */
public enum TaskRead {
  /** Segments whose file is open now; the only number that falls. */
  OPEN_SEGMENTS,
  /** Segments that the task has opened. */
  SEGMENTS_OPENED,
  /** Stored bytes read of map output. */
  BYTES_READ,
  /** Reads of map output, each a request for one range of a file. */
  READ_REQUESTS,
  /** Requests to the metadata server. */
  METADATA_REQUESTS,
  /** Map outputs found lost or damaged. */
  VALIDATION_FAILURES;

  /** Returns whether the number never falls while a task runs. */
  boolean isCounter() {
    return this != OPEN_SEGMENTS;
  }
}
