package org.vas.shuffle.merge;

import java.io.Closeable;
import java.io.IOException;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentReader;

/**
 * Fills buffers with the stored bytes of segments in other threads, and watches over the calls that
 * this takes: a call that hangs cannot be ended, but it can be seen.
 */
public interface SegmentReads extends Closeable {
  /** A buffer and the segment whose next bytes it takes. */
  interface Fill {
    /** Returns the reader of the segment, which nobody else uses between begin and end. */
    SegmentReader reader();

    /** Returns the array that takes the bytes. */
    byte[] buffer();

    /** Is called before the first byte is read; returns false if nobody wants them any more. */
    boolean begin();

    /**
     * Is called once after {@link #begin}, whatever that returned.
     *
     * @param length bytes in the buffer
     * @param failure why there are none; null where there are
     */
    void end(int length, Throwable failure);
  }

  /**
   * Begins to fill a buffer, and returns at once.
   *
   * @param source the segment, whose server has a queue of its own
   */
  void fill(SegmentFile source, Fill fill);

  /** Returns the milliseconds after which a waiting thread should call {@link #check}. */
  long tick();

  /**
   * Checks that no call hangs.
   *
   * @throws IOException that names a call which takes longer than it may, or an error that a thread
   *     could hand to nobody
   */
  void check() throws IOException;

  /** Drops what waits, and does not wait for the end of what runs. */
  @Override
  void close();
}
