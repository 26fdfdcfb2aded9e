package org.vas.filesystem;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** {@code lustre.lov} attributes for tests. */
final class LovBytes {
  private LovBytes() {}

  /** Stripes of that size, one on each OST in turn. */
  static byte[] plain(long stripeSize, int... osts) {
    ByteBuffer bytes = ByteBuffer.allocate(32 + 24 * osts.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(0, 0x0BD10BD0).putInt(4, 1).putInt(24, (int) stripeSize);
    bytes.putShort(28, (short) osts.length);
    for (int i = 0; i < osts.length; i++) {
      bytes.putLong(32 + 24 * i, 1).putInt(32 + 24 * i + 20, osts[i]);
    }
    return bytes.array();
  }
}
