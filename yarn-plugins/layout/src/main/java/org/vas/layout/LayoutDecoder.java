package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the little-endian, packed structures of {@code lustre_user.h}. */
final class LayoutDecoder {
  private static final int V1_SIZE = 32;
  private static final int V3_SIZE = 48;
  private static final int OBJECT_SIZE = 24;
  private static final int COMPOSITE_SIZE = 32;
  private static final int ENTRY_SIZE = 48;
  private static final int FOREIGN_SIZE = 16;
  private static final int POOL_SIZE = 16;
  private static final int ALL_OSTS = 0xFFFF;

  private LayoutDecoder() {}

  static StripeLayout decode(byte[] bytes) throws LayoutException {
    requireNonNull(bytes, "bytes");
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    require(in, 4, "magic");
    return in.getInt(0) == LayoutBits.MAGIC_COMPOSITE ? composite(in) : simple(in);
  }

  private static StripeLayout simple(ByteBuffer in) throws LayoutException {
    require(in, 4, "magic");
    switch (in.getInt(0)) {
      case LayoutBits.MAGIC_V1:
        return plain(in, "v1", V1_SIZE);
      case LayoutBits.MAGIC_V3:
        return plain(in, "v3", V3_SIZE);
      case LayoutBits.MAGIC_FOREIGN:
        return foreign(in);
      default:
        throw new LayoutException(String.format("unknown magic 0x%08x", in.getInt(0)));
    }
  }

  private static PlainLayout plain(ByteBuffer in, String magic, int headerSize)
      throws LayoutException {
    require(in, headerSize, "header");
    int pattern = in.getInt(4);
    int count = Short.toUnsignedInt(in.getShort(28));
    Optional<String> pool = headerSize == V3_SIZE ? pool(in) : Optional.empty();
    return new PlainLayout(magic, pattern, Integer.toUnsignedLong(in.getInt(24)), count,
        Short.toUnsignedInt(in.getShort(30)), pool, objects(in, headerSize, pattern, count));
  }

  private static Optional<String> pool(ByteBuffer in) {
    byte[] name = new byte[POOL_SIZE];
    in.duplicate().position(V1_SIZE).get(name);
    String text = new String(name, StandardCharsets.ISO_8859_1);
    int end = text.indexOf('\0');
    String pool = end < 0 ? text : text.substring(0, end);
    return pool.isEmpty() ? Optional.empty() : Optional.of(pool);
  }

  // A released file keeps its count, with objects that are all zero; a request or a default has
  // a count and no objects at all.
  private static List<StripeObject> objects(ByteBuffer in, int start, int pattern, int count)
      throws LayoutException {
    boolean none = (pattern & LayoutBits.PATTERN_RELEASED) != 0
        || count == ALL_OSTS || in.limit() == start;
    List<StripeObject> objects = new ArrayList<>();
    if (!none) {
      require(in, start + count * OBJECT_SIZE, "objects");
      for (int i = 0; i < count; i++) {
        int at = start + i * OBJECT_SIZE;
        objects.add(new StripeObject(
            in.getInt(at + 20), in.getLong(at), in.getInt(at + 8), in.getInt(at + 12)));
      }
    }
    return objects;
  }

  private static ForeignLayout foreign(ByteBuffer in) throws LayoutException {
    require(in, FOREIGN_SIZE, "foreign header");
    long length = Integer.toUnsignedLong(in.getInt(4));
    require(in, FOREIGN_SIZE + length, "foreign value");
    byte[] value = new byte[(int) length];
    in.duplicate().position(FOREIGN_SIZE).get(value);
    return new ForeignLayout(Integer.toUnsignedLong(in.getInt(8)),
        Integer.toUnsignedLong(in.getInt(12)), value);
  }

  private static CompositeLayout composite(ByteBuffer in) throws LayoutException {
    require(in, COMPOSITE_SIZE, "composite header");
    int entries = Short.toUnsignedInt(in.getShort(14));
    require(in, COMPOSITE_SIZE + (long) entries * ENTRY_SIZE, "components");
    List<Component> components = new ArrayList<>();
    for (int i = 0; i < entries; i++) {
      components.add(component(in, COMPOSITE_SIZE + i * ENTRY_SIZE));
    }
    return new CompositeLayout(Integer.toUnsignedLong(in.getInt(8)),
        Short.toUnsignedInt(in.getShort(12)), Short.toUnsignedInt(in.getShort(16)) + 1, components);
  }

  private static Component component(ByteBuffer in, int at) throws LayoutException {
    long offset = Integer.toUnsignedLong(in.getInt(at + 24));
    long size = Integer.toUnsignedLong(in.getInt(at + 28));
    require(in, offset + size, "component");
    ByteBuffer body = in.duplicate().position((int) offset).limit((int) (offset + size)).slice()
        .order(ByteOrder.LITTLE_ENDIAN);
    long end = in.getLong(at + 16);
    int flags = in.getInt(at + 4);
    return new Component(Integer.toUnsignedLong(in.getInt(at)), flags, in.getLong(at + 8),
        end < 0 ? Component.END_OF_FILE : end,
        simple(body));
  }

  private static void require(ByteBuffer in, long size, String what) throws LayoutException {
    if (in.limit() < size) {
      throw new LayoutException(
          "truncated " + what + ": " + size + " bytes needed, " + in.limit() + " there");
    }
  }
}
