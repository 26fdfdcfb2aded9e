package org.vas.shuffle.daemon;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.vas.shuffle.merge.SegmentReads;

/** Asks for the next bytes of a segment, in pieces no larger than a daemon sends at once. */
final class ReadRequest extends DaemonRequest {
  private final SegmentReads.Fill fill;
  private long offset;
  private int length;
  private int done;

  ReadRequest(SegmentAddress at, SegmentReads.Fill fill) {
    super(at);
    this.fill = fill;
  }

  @Override
  boolean begin() {
    if (!fill.begin()) {
      fill.end(0, null);
      return false;
    }
    offset = fill.reader().nextOffset();
    length = fill.reader().nextLength(fill.buffer());
    return true;
  }

  @Override
  byte kind() {
    return DaemonConnection.READ;
  }

  @Override
  byte answerKind() {
    return DaemonConnection.DATA;
  }

  private int piece() {
    return Math.min(DaemonConnection.LARGEST_READ, length - done);
  }

  @Override
  byte[] words() {
    return ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
        .putLong(offset + done).putInt(piece()).array();
  }

  @Override
  ByteBuffer answered(ByteBuffer body) throws IOException {
    if (body.remaining() != Integer.BYTES || body.getInt() != piece()) {
      throw doesNotAddUp();
    }
    return ByteBuffer.wrap(fill.buffer(), done, piece());
  }

  @Override
  boolean next() {
    done += piece();
    return done < length;
  }

  @Override
  void succeed() throws IOException {
    fill.reader().take(fill.buffer(), length);
    fill.end(length, null);
  }

  @Override
  void fail(Throwable cause) {
    fill.end(0, cause);
  }
}
