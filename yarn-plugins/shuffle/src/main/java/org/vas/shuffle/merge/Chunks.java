package org.vas.shuffle.merge;

import java.io.Closeable;
import java.io.IOException;

/** The bytes of an IFile stream, piece by piece. */
public interface Chunks extends Closeable {
  /**
   * Goes to the next piece; the one before is lost.
   *
   * @return false at the end
   */
  boolean next() throws IOException;

  /** Returns the array that holds the piece. */
  byte[] data();

  /** Returns the offset of the first byte of the piece. */
  int start();

  /** Returns the offset after the last byte of the piece. */
  int end();

  /**
   * Checks what follows the stream's end marker; called once the reader has met that.
   *
   * @throws IOException if what follows is not what must follow
   */
  void finish() throws IOException;

  /** Releases the memory; may be called twice, and before the end. */
  @Override
  void close() throws IOException;
}
