package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.vas.layout.PlainLayout.Magic;

/**
 * Reads the little-endian, packed structures of {@code lustre_user.h}. Every count and size is
 * checked against the bytes given before anything of that size is made. The Python decoder
 * (vas_layout's codec.py) refuses the same bytes with the same messages.
 */
final class LayoutDecoder {
  private static final int V1_SIZE = 32;
  private static final int POOL_SIZE = 16;
  private static final int OBJECT_SIZE = 24;
  private static final int COMPOSITE_SIZE = 32;
  private static final int ENTRY_SIZE = 48;
  private static final int FOREIGN_SIZE = 16;
  // Components are padded to 8 bytes.
  private static final int ALIGNMENT = 8;

  private LayoutDecoder() {}

  static StripeLayout decode(byte[] bytes) throws LayoutException {
    ByteBuffer in = ByteBuffer.wrap(requireNonNull(bytes, "bytes")).order(ByteOrder.LITTLE_ENDIAN);
    check(in.limit() <= LayoutBits.MAX_XATTR_BYTES, "oversized: %s bytes at most, %s given",
        LayoutBits.MAX_XATTR_BYTES, in.limit());
    int magic = magic(in);
    boolean composite =
        magic == LayoutBits.MAGIC_COMPOSITE || magic == LayoutBits.MAGIC_COMPOSITE_SEL;
    return composite ? composite(in) : simple(in);
  }

  private static int magic(ByteBuffer in) throws LayoutException {
    need(in, 4, "the magic");
    return in.getInt(0);
  }

  private static StripeLayout simple(ByteBuffer in) throws LayoutException {
    int magic = magic(in);
    switch (magic) {
      case LayoutBits.MAGIC_V1:
        return plain(in, Magic.V1);
      case LayoutBits.MAGIC_V3:
        return plain(in, Magic.V3);
      case LayoutBits.MAGIC_SPECIFIC:
        return plain(in, Magic.SPECIFIC);
      case LayoutBits.MAGIC_FOREIGN:
        return foreign(in);
      default:
        throw new LayoutException(String.format("unknown magic 0x%08x", magic));
    }
  }

  private static PlainLayout plain(ByteBuffer in, Magic magic) throws LayoutException {
    need(in, magic.headerSize(), "a " + magic.label() + " header");
    int pattern = in.getInt(4);
    long stripeSize = unsigned(in.getInt(24));
    Optional<String> pool = magic == Magic.V1 ? Optional.empty() : pool(in);
    int count = PlainLayout.countOf(unsigned(in.getShort(28)));
    check(count <= LayoutBits.MAX_STRIPES, "stripe count %s is above %s",
        count, LayoutBits.MAX_STRIPES);
    List<OstObject> objects = objects(in, magic.headerSize(), count);
    if ((pattern & LayoutBits.PATTERN_RELEASED) != 0) {
      // The objects of a released file are gone; their places are all zero, which is no OST 0.
      objects = List.of();
    }
    check(objects.isEmpty() || stripeSize > 0 || magic == Magic.SPECIFIC,
        "stripe size 0 with %s objects", count);
    return new PlainLayout(
        magic, pattern, stripeSize, count, unsigned(in.getShort(30)), pool, objects);
  }

  private static Optional<String> pool(ByteBuffer in) throws LayoutException {
    byte[] field = new byte[POOL_SIZE];
    in.duplicate().position(V1_SIZE).get(field);
    String text = new String(field, StandardCharsets.ISO_8859_1);
    int end = text.indexOf('\0');
    check(end >= 0, "pool name without an end in its %s bytes", POOL_SIZE);
    String name = text.substring(0, end);
    check(name.chars().allMatch(c -> c > ' ' && c < 0x7F),
        "pool name 0x%s is not printable ASCII", hex(name));
    return name.isEmpty() ? Optional.empty() : Optional.of(name);
  }

  private static String hex(String latin1) {
    StringBuilder hex = new StringBuilder();
    latin1.chars().forEach(c -> hex.append(String.format("%02x", c)));
    return hex.toString();
  }

  // A request has a count and no objects at all.
  private static List<OstObject> objects(ByteBuffer in, int start, int count)
      throws LayoutException {
    if (in.limit() == start) {
      return List.of();
    }
    check(count >= 0, "stripe count %s with objects", count);
    int size = start + count * OBJECT_SIZE;
    need(in, size, count + " objects");
    check(in.limit() == size, "oversized: %s bytes hold %s objects, %s given",
        size, count, in.limit());
    List<OstObject> objects = new ArrayList<>(count);
    for (int at = start; at < size; at += OBJECT_SIZE) {
      objects.add(new OstObject(
          in.getInt(at + 20), in.getLong(at), in.getInt(at + 8), in.getInt(at + 12)));
    }
    return objects;
  }

  private static ForeignLayout foreign(ByteBuffer in) throws LayoutException {
    need(in, FOREIGN_SIZE, "a foreign header");
    long length = unsigned(in.getInt(4));
    long size = FOREIGN_SIZE + length;
    need(in, size, "a foreign value of " + length);
    check(in.limit() < size + ALIGNMENT,
        "oversized: %s bytes hold a foreign value of %s, %s given", size, length, in.limit());
    byte[] value = new byte[(int) length];
    in.duplicate().position(FOREIGN_SIZE).get(value);
    return new ForeignLayout(unsigned(in.getInt(8)), unsigned(in.getInt(12)), value);
  }

  private static CompositeLayout composite(ByteBuffer in) throws LayoutException {
    need(in, COMPOSITE_SIZE, "a composite header");
    long size = unsigned(in.getInt(4));
    need(in, size, "the composite");
    check(in.limit() == size, "oversized: %s bytes hold the composite, %s given",
        size, in.limit());
    int count = unsigned(in.getShort(14));
    check(count > 0, "composite without components");
    need(in, COMPOSITE_SIZE + (long) count * ENTRY_SIZE, count + " components");
    return new CompositeLayout(unsigned(in.getInt(8)), unsigned(in.getShort(12)),
        unsigned(in.getShort(16)) + 1, components(in, count));
  }

  private static List<LayoutComponent> components(ByteBuffer in, int count) throws LayoutException {
    List<LayoutComponent> components = new ArrayList<>(count);
    long free = COMPOSITE_SIZE + (long) count * ENTRY_SIZE;
    for (int i = 0; i < count; i++) {
      int entry = COMPOSITE_SIZE + i * ENTRY_SIZE;
      try {
        components.add(component(in, entry, free));
      } catch (LayoutException e) {
        throw new LayoutException("component " + (i + 1) + ": " + e.getMessage());
      }
      free = unsigned(in.getInt(entry + 24)) + unsigned(in.getInt(entry + 28));
    }
    return components;
  }

  // In order and apart: components that share bytes would multiply them without bound.
  private static LayoutComponent component(ByteBuffer in, int entry, long free) throws LayoutException {
    long start = in.getLong(entry + 8);
    long end = in.getLong(entry + 16);
    long offset = unsigned(in.getInt(entry + 24));
    long size = unsigned(in.getInt(entry + 28));
    check(offset >= free, "starts at byte %s, before %s where its place begins", offset, free);
    check(offset + size <= in.limit(), "ends at byte %s, %s given", offset + size, in.limit());
    check(Long.compareUnsigned(end, start) >= 0, "extent ends at %s, before its start %s",
        Long.toUnsignedString(end), Long.toUnsignedString(start));
    ByteBuffer body = in.duplicate().limit((int) (offset + size)).position((int) offset).slice();
    return new LayoutComponent(unsigned(in.getInt(entry)), in.getInt(entry + 4), start, end,
        simple(body.order(ByteOrder.LITTLE_ENDIAN)));
  }

  private static void need(ByteBuffer in, long size, String what) throws LayoutException {
    check(in.limit() >= size, "truncated: %s bytes needed for %s, %s given",
        size, what, in.limit());
  }

  // The annotation that error-prone asks for would be one more jar at run time.
  @SuppressWarnings("AnnotateFormatMethod")
  private static void check(boolean holds, String message, Object... values)
      throws LayoutException {
    if (!holds) {
      throw new LayoutException(String.format(message, values));
    }
  }

  private static long unsigned(int value) {
    return Integer.toUnsignedLong(value);
  }

  private static int unsigned(short value) {
    return Short.toUnsignedInt(value);
  }
}
