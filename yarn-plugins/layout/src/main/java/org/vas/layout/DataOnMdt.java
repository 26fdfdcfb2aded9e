package org.vas.layout;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;

/** Composite layouts of two components: the first bytes on the MDT, the rest on OSTs. */
final class DataOnMdt {
  private static final int HEADER = 32;
  private static final int ENTRY = 48;
  private static final int PLAIN = 32;
  private static final long END_OF_FILE = -1;

  private DataOnMdt() {}

  /** The request for so many bytes on the MDT, then that plain layout. */
  static byte[] before(long bytes, byte[] rest) {
    int first = HEADER + 2 * ENTRY;
    int second = first + PLAIN;
    ByteBuffer out = ByteBuffer.allocate(second + rest.length).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(0, LayoutBits.MAGIC_COMPOSITE).putInt(4, out.capacity()).putShort(14, (short) 2);
    entry(out, HEADER, 0, bytes, first, PLAIN);
    entry(out, HEADER + ENTRY, bytes, END_OF_FILE, second, rest.length);
    out.putInt(first, LayoutBits.MAGIC_V1).putInt(first + 4, LayoutBits.PATTERN_MDT);
    out.putInt(first + 24, (int) bytes).putShort(first + 30, (short) PlainLayout.NOT_TOLD);
    out.position(second).put(rest);
    return out.array();
  }

  /** What a layout has for the bytes after so many on the MDT; none if it is no such layout. */
  static Optional<StripeLayout> after(long bytes, StripeLayout layout) {
    if (!(layout instanceof CompositeLayout)) {
      return Optional.empty();
    }
    List<Component> components = ((CompositeLayout) layout).components();
    boolean such = components.size() == 2
        && components.get(0).start() == 0 && components.get(0).end() == bytes
        && isOnMdt(components.get(0).layout())
        && components.get(1).end() == Component.END_OF_FILE;
    return such ? Optional.of(components.get(1).layout()) : Optional.empty();
  }

  private static boolean isOnMdt(StripeLayout layout) {
    return layout instanceof PlainLayout
        && ((PlainLayout) layout).patternNames().equals(List.of("mdt"));
  }

  private static void entry(ByteBuffer out, int at, long start, long end, int offset, int size) {
    out.putLong(at + 8, start).putLong(at + 16, end);
    out.putInt(at + 24, offset).putInt(at + 28, size);
  }
}
