package org.vas.shuffle.daemon;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.vas.shuffle.mof.Segment;

/** Asks for sizes and checksums of a segment, and for its bytes if they are few. */
final class LookRequest extends DaemonRequest {
  private final int hold;
  private final boolean verify;
  private final boolean sealed;
  private final DaemonReads.Looked done;
  private LookedSegment looked;

  LookRequest(SegmentAddress at, int hold, boolean verify, boolean sealed, DaemonReads.Looked done) {
    super(at);
    this.hold = hold;
    this.verify = verify;
    this.sealed = sealed;
    this.done = done;
  }

  @Override
  boolean begin() {
    return true;
  }

  @Override
  byte kind() {
    return DaemonConnection.LOOK;
  }

  @Override
  byte answerKind() {
    return DaemonConnection.LOOKED;
  }

  @Override
  byte[] words() {
    int flags = (verify ? 1 : 0) | (sealed ? 2 : 0);
    return ByteBuffer.allocate(Integer.BYTES + 1).putInt(hold).put((byte) flags).array();
  }

  @Override
  ByteBuffer answered(ByteBuffer answer) throws IOException {
    if (answer.remaining() < 2 * Long.BYTES + Integer.BYTES) {
      throw doesNotAddUp();
    }
    long stored = answer.getLong();
    long raw = answer.getLong();
    int count = answer.getInt();
    if (stored < 0 || raw < 0 || count != (stored == 0 ? 0 : Segment.checksumsOf(stored))
        || answer.remaining() < (long) Integer.BYTES * count + Integer.BYTES) {
      throw doesNotAddUp();
    }
    int[] checksums = new int[count];
    for (int i = 0; i < count; i++) {
      checksums[i] = answer.getInt();
    }
    int holds = answer.getInt();
    if (holds != answer.remaining() || (holds != 0 && holds != stored)) {
      throw doesNotAddUp();
    }
    byte[] held = new byte[holds];
    answer.get(held);
    looked = new LookedSegment(stored, raw, checksums, held);
    return null;
  }

  @Override
  boolean next() {
    return false;
  }

  @Override
  void succeed() {
    done.looked(looked, null);
  }

  @Override
  void fail(Throwable cause) {
    done.looked(null, cause);
  }
}
