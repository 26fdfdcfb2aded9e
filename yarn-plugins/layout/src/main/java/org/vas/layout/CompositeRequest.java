package org.vas.layout;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Builds the request for a composite layout: plain layouts one after another, each for an extent of
 * the file (PFL, DoM).
 */
final class CompositeRequest {
  private static final int HEADER = 32;
  private static final int ENTRY = 48;
  private static final int PLAIN = 32;
  private static final long END_OF_FILE = -1;

  private final List<Long> ends = new ArrayList<>();
  private final List<byte[]> parts = new ArrayList<>();

  /** Adds the extent up to byte {@code end}, with the layout of the plain request {@code plain}. */
  CompositeRequest until(long end, byte[] plain) {
    ends.add(end);
    parts.add(plain.clone());
    return this;
  }

  /** Adds the first extent, {@code bytes} long, on the file's MDT. */
  CompositeRequest onMdt(long bytes) {
    ByteBuffer plain = ByteBuffer.allocate(PLAIN).order(ByteOrder.LITTLE_ENDIAN);
    plain.putInt(0, LayoutBits.MAGIC_V1).putInt(4, LayoutBits.PATTERN_MDT);
    plain.putInt(24, (int) bytes).putShort(30, (short) PlainLayout.NOT_TOLD);
    return until(bytes, plain.array());
  }

  /** Adds the last extent, which ends with the file; returns the bytes for {@code setxattr}. */
  byte[] rest(byte[] plain) {
    until(END_OF_FILE, plain);
    int at = HEADER + ends.size() * ENTRY;
    int size = at + parts.stream().mapToInt(part -> part.length).sum();
    ByteBuffer out = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(0, LayoutBits.MAGIC_COMPOSITE).putInt(4, size).putShort(14, (short) ends.size());
    long start = 0;
    for (int i = 0; i < ends.size(); i++) {
      entry(out, HEADER + i * ENTRY, start, ends.get(i), at, parts.get(i).length);
      out.position(at).put(parts.get(i));
      at += parts.get(i).length;
      start = ends.get(i);
    }
    return out.array();
  }

  private static void entry(ByteBuffer out, int at, long start, long end, int offset, int size) {
    out.putLong(at + 8, start).putLong(at + 16, end);
    out.putInt(at + 24, offset).putInt(at + 28, size);
  }

  /**
   * Returns the plain layouts of a file's extents, if these end at {@code ends} and at the end of
   * the file.
   *
   * @return one layout more than {@code ends}; empty if the file has other extents or layouts
   */
  static Optional<List<PlainLayout>> partsOf(StripeLayout layout, List<Long> ends) {
    if (!(layout instanceof CompositeLayout)) {
      return Optional.empty();
    }
    List<LayoutComponent> components = ((CompositeLayout) layout).components();
    List<PlainLayout> plain = new ArrayList<>();
    long start = 0;
    for (LayoutComponent component : components) {
      int i = plain.size();
      long end = i < ends.size() ? ends.get(i) : LayoutComponent.END_OF_FILE;
      if (component.start() != start || component.end() != end
          || !(component.layout() instanceof PlainLayout)) {
        return Optional.empty();
      }
      plain.add((PlainLayout) component.layout());
      start = end;
    }
    return plain.size() == ends.size() + 1 ? Optional.of(plain) : Optional.empty();
  }

  static boolean isOnMdt(PlainLayout layout) {
    return layout.patternNames().equals(List.of("mdt"));
  }
}
