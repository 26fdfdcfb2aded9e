package org.vas.shuffle.merge;

import java.io.IOException;

/** Chunks that lie at the start of one buffer, which each next one fills again. */
public abstract class BufferedChunks implements Chunks {
  private byte[] buffer;
  private int length;

  /** Makes chunks that have no buffer yet. */
  protected BufferedChunks() {}

  /**
   * Makes the first bytes of a buffer the chunk.
   *
   * @param count the length of the chunk in bytes; 0 says that there is no chunk
   */
  protected final void use(byte[] filled, int count) {
    buffer = filled;
    length = count;
  }

  /** Drops the buffer, so that its memory is free while this object is still referred to. */
  protected final void drop() {
    use(null, 0);
  }

  /** Returns the error for bytes behind the end marker. */
  protected abstract IOException bytesBehindTheEnd();

  @Override
  public final byte[] data() {
    return buffer;
  }

  @Override
  public final int start() {
    return 0;
  }

  @Override
  public final int end() {
    return length;
  }

  /**
   * Checks that no chunk is left.
   *
   * @throws IOException if one is, or it cannot be told
   */
  @Override
  public void finish() throws IOException {
    if (next()) {
      throw bytesBehindTheEnd();
    }
  }
}
