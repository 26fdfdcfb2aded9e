package org.vas.filesystem;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Makes {@code lustre.lov} attributes for tests. */
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

  /** One stripe on the first OST, then stripes on each of the others in turn. */
  static byte[] progressive(long stripeSize, int first, int... others) {
    byte[] one = plain(stripeSize, first);
    byte[] rest = plain(stripeSize, others);
    int at = 32 + 2 * 48;
    ByteBuffer bytes = ByteBuffer.allocate(at + one.length + rest.length)
        .order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(0, 0x0BD60BD0).putInt(4, bytes.capacity()).putInt(8, 3).putShort(14, (short) 2);
    bytes.putInt(32, 1).putInt(36, 0x10).putLong(40, 0).putLong(48, stripeSize);
    bytes.putInt(56, at).putInt(60, one.length);
    bytes.putInt(80, 2).putInt(84, 0x10).putLong(88, stripeSize).putLong(96, -1);
    bytes.putInt(104, at + one.length).putInt(108, rest.length);
    bytes.position(at).put(one).put(rest);
    return bytes.array();
  }
}
