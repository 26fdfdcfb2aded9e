package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A layout to set on a file before its first byte, or as the default of a directory.
 * Immutable: {@link #pool}, {@link #osts} and {@link #startingAt} give a changed copy.
 */
public final class LayoutRequest {
  private static final int HEADER_V1 = 32;
  private static final int HEADER_V3 = 48;
  private static final int OBJECT = 24;
  private static final int POOL_MAX = 15;
  private static final int COUNT_MAX = 2000;
  private static final long SIZE_STEP = 64 << 10;
  private static final long SIZE_END = 1L << 32;

  private final long stripeSize;
  private final int stripeCount;
  private final int start;
  private final Optional<String> pool;
  private final List<Integer> osts;

  private LayoutRequest(
      long stripeSize, int stripeCount, int start, Optional<String> pool, List<Integer> osts) {
    this.stripeSize = stripeSize;
    this.stripeCount = stripeCount;
    this.start = start;
    this.pool = pool;
    this.osts = osts;
  }

  /**
   * A plain striping on OSTs of Lustre's choice.
   *
   * @param size bytes, a multiple of 64 KiB below 4 GiB
   * @param count objects, 1 to 2000, or {@link PlainLayout#ALL_OSTS}
   */
  public static LayoutRequest stripes(long size, int count) {
    check(size > 0 && size < SIZE_END && size % SIZE_STEP == 0,
        "stripe size " + size + " is not a multiple of 64 KiB below 4 GiB");
    check(count == PlainLayout.ALL_OSTS || (count >= 1 && count <= COUNT_MAX),
        "stripe count " + count + " is neither -1 nor between 1 and " + COUNT_MAX);
    return new LayoutRequest(size, count, PlainLayout.NO_START, Optional.empty(), List.of());
  }

  /** The same on OSTs of one pool. */
  public LayoutRequest pool(String name) {
    requireNonNull(name, "name");
    check(name.matches("[A-Za-z0-9_.-]{1," + POOL_MAX + "}"),
        "pool name '" + name + "' is not 1 to " + POOL_MAX + " letters, digits, _, - or .");
    return new LayoutRequest(stripeSize, stripeCount, start, Optional.of(name), osts);
  }

  /** The same with its first object on one OST; Lustre chooses the others. */
  public LayoutRequest startingAt(int ostIndex) {
    check(ostIndex >= 0 && ostIndex < PlainLayout.NO_START, "OST index " + ostIndex + " is not one");
    return new LayoutRequest(stripeSize, stripeCount, ostIndex, pool, List.of());
  }

  /** The same on exactly these OSTs, in this order; their number becomes the stripe count. */
  public LayoutRequest osts(int... indices) {
    check(indices.length >= 1 && indices.length <= COUNT_MAX,
        indices.length + " OSTs are not between 1 and " + COUNT_MAX);
    List<Integer> list = Arrays.stream(indices).boxed().collect(Collectors.toUnmodifiableList());
    check(list.stream().allMatch(index -> index >= 0 && index < PlainLayout.NO_START),
        "OST indices " + list + " are not all between 0 and 65534");
    return new LayoutRequest(stripeSize, list.size(), list.get(0), pool, list);
  }

  public long stripeSize() {
    return stripeSize;
  }

  public int stripeCount() {
    return stripeCount;
  }

  /** The bytes to give to {@code setxattr("lustre.lov")}. */
  public byte[] encode() {
    boolean v3 = pool.isPresent() || !osts.isEmpty();
    int header = v3 ? HEADER_V3 : HEADER_V1;
    ByteBuffer out = ByteBuffer.allocate(header + osts.size() * OBJECT)
        .order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(0, magic()).putInt(4, LayoutBits.PATTERN_RAID0).putInt(24, (int) stripeSize);
    out.putShort(28, (short) stripeCount).putShort(30, (short) start);
    byte[] name = pool.orElse("").getBytes(StandardCharsets.US_ASCII);
    out.duplicate().position(HEADER_V1).put(name);
    for (int i = 0; i < osts.size(); i++) {
      out.putInt(header + i * OBJECT + 20, osts.get(i));
    }
    return out.array();
  }

  /** Whether a file's layout, read back, is what this request asked for. */
  public boolean isMetBy(StripeLayout layout) {
    if (!(layout instanceof PlainLayout)) {
      return false;
    }
    PlainLayout got = (PlainLayout) layout;
    List<Integer> gotOsts = got.objects().stream().map(StripeObject::ostIndex)
        .collect(Collectors.toUnmodifiableList());
    return got.stripeSize() == stripeSize
        && (stripeCount == PlainLayout.ALL_OSTS || got.stripeCount() == stripeCount)
        && (pool.isEmpty() || pool.equals(got.pool()))
        && (start == PlainLayout.NO_START || got.stripeOffset().equals(Optional.of(start)))
        && (osts.isEmpty() || osts.equals(gotOsts));
  }

  private int magic() {
    if (!osts.isEmpty()) {
      return LayoutBits.MAGIC_SPECIFIC;
    }
    return pool.isPresent() ? LayoutBits.MAGIC_V3 : LayoutBits.MAGIC_V1;
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }

  @Override
  public String toString() {
    return stripeSize + " x " + stripeCount + (osts.isEmpty() ? "" : " on OSTs " + osts)
        + pool.map(name -> " in pool " + name).orElse("");
  }
}
