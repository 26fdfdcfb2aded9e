package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;

/** A stream over the bytes of chunks. */
public final class ChunkStream extends InputStream {
  private final Chunks chunks;
  private final byte[] one = new byte[1];
  private int position;
  private int limit;
  private boolean failed;

  /** Makes a stream of the chunks' bytes, from their next piece on. */
  public ChunkStream(Chunks chunks) {
    this.chunks = requireNonNull(chunks, "chunks");
  }

  @Override
  public int read() throws IOException {
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (position == limit) {
      if (!advance()) {
        return -1;
      }
      position = chunks.start();
      limit = chunks.end();
    }
    int count = Math.min(length, limit - position);
    System.arraycopy(chunks.data(), position, bytes, offset, count);
    position += count;
    return count;
  }

  /**
   * Returns whether an error came from the chunks, and not from the code that reads this stream.
   */
  public boolean failed() {
    return failed;
  }

  private boolean advance() throws IOException {
    failed = true;
    boolean more = chunks.next();
    failed = false;
    return more;
  }

  @Override
  public int available() {
    return limit - position;
  }

  @Override
  public void close() throws IOException {
    chunks.close();
  }
}
