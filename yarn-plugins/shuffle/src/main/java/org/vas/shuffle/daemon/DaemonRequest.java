package org.vas.shuffle.daemon;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.mapred.JobID;

/** A request about one segment, from its first sending until its answer is handed over. */
abstract class DaemonRequest {
  private final SegmentAddress at;

  DaemonRequest(SegmentAddress at) {
    this.at = at;
  }

  final SegmentAddress at() {
    return at;
  }

  final byte[] body(JobID job) throws IOException {
    return at.request(job, words());
  }

  /** Returns the error for an answer that does not fit the request. */
  final IOException doesNotAddUp() {
    return new IOException(at + ": the daemon's answer does not add up");
  }

  /** Prepares the request before it is first sent; returns false if nobody waits any more. */
  abstract boolean begin();

  /** Returns the kind of the message. */
  abstract byte kind();

  /** Returns the kind of the message that answers it. */
  abstract byte answerKind();

  /** Returns the words of the message that say what is asked of the segment. */
  abstract byte[] words();

  /**
   * Takes the answer's body.
   *
   * @return where the bytes that follow the body go; null if none follow
   * @throws IOException if it does not answer this request
   */
  abstract ByteBuffer answered(ByteBuffer body) throws IOException;

  /** Notes that an answer is complete; returns whether the request must be sent for more. */
  abstract boolean next();

  /** Hands the answer to whoever made this request. */
  abstract void succeed() throws IOException;

  /** Reports to whoever made this request why it has no answer. */
  abstract void fail(Throwable cause);
}
