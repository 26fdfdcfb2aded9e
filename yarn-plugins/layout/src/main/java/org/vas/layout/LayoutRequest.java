package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.vas.layout.PlainLayout.Magic;

/**
 * A layout to set on a file before its first byte, or as the default of a directory. Immutable:
 * {@link #pool}, {@link #startingAt}, {@link #osts}, {@link #onMdt} and {@link #onOne} return a
 * changed copy.
 */
public final class LayoutRequest {
  private static final int POOL_AT = 32;
  private static final int OBJECT = 24;
  private static final int POOL_MAX = 15;
  private static final long SIZE_STEP = 64 << 10;
  private static final long SIZE_END = 1L << 32;

  private final long stripeSize;
  private final int stripeCount;
  private final int start;
  private final Optional<String> pool;
  private final List<Integer> osts;
  private final long onMdt;
  private final long onOne;

  private LayoutRequest(long stripeSize, int stripeCount, int start, Optional<String> pool,
      List<Integer> osts, long onMdt, long onOne) {
    this.stripeSize = stripeSize;
    this.stripeCount = stripeCount;
    this.start = start;
    this.pool = pool;
    this.osts = osts;
    this.onMdt = onMdt;
    this.onOne = onOne;
  }

  /**
   * Returns a request for a plain striping on OSTs of Lustre's choice.
   *
   * @param size bytes, a multiple of 64 KiB below 4 GiB; 0 for the file system's default
   * @param count objects, at most 2000; 0 for the default, or {@link PlainLayout#ALL_OSTS}
   * @throws IllegalArgumentException if one of them is out of these bounds
   */
  public static LayoutRequest stripes(long size, int count) {
    check(size >= 0 && size < SIZE_END && size % SIZE_STEP == 0,
        "stripe size " + size + " is not a multiple of 64 KiB below 4 GiB");
    check(count >= PlainLayout.ALL_OSTS && count <= LayoutBits.MAX_STRIPES,
        "stripe count " + count + " is not between -1 and " + LayoutBits.MAX_STRIPES);
    return new LayoutRequest(size, count, PlainLayout.NOT_TOLD, Optional.empty(), List.of(),
        0, 0);
  }

  /**
   * Returns this request restricted to the OSTs of one pool.
   *
   * @throws IllegalArgumentException if the name is not 1 to 15 of {@code [A-Za-z0-9_.-]}
   */
  public LayoutRequest pool(String name) {
    requireNonNull(name, "name");
    check(name.matches("[A-Za-z0-9_.-]{1," + POOL_MAX + "}"),
        "pool name '" + name + "' is not 1 to " + POOL_MAX + " of [A-Za-z0-9_.-]");
    return new LayoutRequest(stripeSize, stripeCount, start, Optional.of(name), osts, onMdt,
        onOne);
  }

  /**
   * Returns this request with its first object on one OST; Lustre chooses the others.
   *
   * @throws IllegalArgumentException if the index is not between 0 and 65534
   */
  public LayoutRequest startingAt(int ostIndex) {
    check(ostIndex >= 0 && ostIndex < PlainLayout.NOT_TOLD,
        "OST index " + ostIndex + " is not between 0 and 65534");
    return new LayoutRequest(stripeSize, stripeCount, ostIndex, pool, List.of(), onMdt, onOne);
  }

  /**
   * Returns this request on exactly these OSTs, in order; their number is the stripe count.
   *
   * @throws IllegalArgumentException if they are not 1 to 2000 indices between 0 and 65534
   */
  public LayoutRequest osts(int... indices) {
    check(indices.length >= 1 && indices.length <= LayoutBits.MAX_STRIPES,
        indices.length + " OSTs are not between 1 and " + LayoutBits.MAX_STRIPES);
    List<Integer> list = Arrays.stream(indices).boxed().collect(Collectors.toUnmodifiableList());
    check(list.stream().allMatch(index -> index >= 0 && index < PlainLayout.NOT_TOLD),
        "OST indices " + list + " are not all between 0 and 65534");
    return new LayoutRequest(stripeSize, list.size(), PlainLayout.NOT_TOLD, pool, list, onMdt,
        onOne);
  }

  /**
   * Returns this request with the first bytes on the file's MDT (Data-on-MDT).
   *
   * @param bytes a multiple of 64 KiB below 4 GiB; Lustre refuses or cuts what its MDTs do not take
   * @throws IllegalArgumentException if {@code bytes} is 0 or out of these bounds
   */
  public LayoutRequest onMdt(long bytes) {
    check(bytes > 0 && bytes < SIZE_END && bytes % SIZE_STEP == 0,
        bytes + " bytes on the MDT are not a multiple of 64 KiB below 4 GiB");
    return new LayoutRequest(stripeSize, stripeCount, start, pool, osts, bytes, onOne);
  }

  /**
   * Returns this request with one object for all bytes up to {@code bytes}, so that a shorter file
   * has only that object. With {@link #onMdt}, the object begins where the part on the MDT ends.
   *
   * @param bytes a multiple of 64 KiB and of the stripe size; without effect if not more than those
   *     on the MDT
   * @throws IllegalArgumentException if {@code bytes} is 0 or not such a multiple
   */
  public LayoutRequest onOne(long bytes) {
    check(bytes > 0 && bytes % Math.max(SIZE_STEP, stripeSize) == 0,
        bytes + " bytes on one OST are not a multiple of 64 KiB and of the stripe size "
            + stripeSize);
    return new LayoutRequest(stripeSize, stripeCount, start, pool, osts, onMdt, bytes);
  }

  public long stripeSize() {
    return stripeSize;
  }

  public int stripeCount() {
    return stripeCount;
  }

  /** Returns the bytes to give to {@code setxattr("lustre.lov")}. */
  public byte[] encode() {
    List<Long> ends = ends();
    if (ends.isEmpty()) {
      return encodePlain();
    }
    CompositeRequest composite = new CompositeRequest();
    if (onMdt > 0) {
      composite.onMdt(onMdt);
    }
    if (hasOne()) {
      composite.until(onOne, one().encodePlain());
    }
    return composite.rest(plain(stripeCount, hasOne() ? PlainLayout.NOT_TOLD : start, osts)
        .encodePlain());
  }

  // Where the extents before the last one end.
  private List<Long> ends() {
    List<Long> ends = new ArrayList<>();
    if (onMdt > 0) {
      ends.add(onMdt);
    }
    if (hasOne()) {
      ends.add(onOne);
    }
    return ends;
  }

  private boolean hasOne() {
    return onOne > onMdt;
  }

  private LayoutRequest one() {
    return plain(1, start, List.of());
  }

  private LayoutRequest plain(int count, int first, List<Integer> exact) {
    return new LayoutRequest(stripeSize, count, first, pool, exact, 0, 0);
  }

  private byte[] encodePlain() {
    int header = magic().headerSize();
    ByteBuffer out = ByteBuffer.allocate(header + osts.size() * OBJECT)
        .order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(0, magicNumber()).putInt(4, pattern()).putInt(24, (int) stripeSize);
    out.putShort(28, (short) stripeCount).putShort(30, (short) start);
    pool.ifPresent(name ->
        out.duplicate().position(POOL_AT).put(name.getBytes(StandardCharsets.US_ASCII)));
    for (int i = 0; i < osts.size(); i++) {
      out.putInt(header + i * OBJECT + 20, osts.get(i));
    }
    return out.array();
  }

  /** Returns whether a file's layout, read back, is what this request asked for. */
  public boolean isMetBy(StripeLayout layout) {
    List<Long> ends = ends();
    if (ends.isEmpty()) {
      return layout instanceof PlainLayout && isMetBy((PlainLayout) layout);
    }
    return CompositeRequest.partsOf(layout, ends).filter(this::areMetBy).isPresent();
  }

  // Only the first extent on OSTs may have objects yet; what has none, has no place.
  private boolean areMetBy(List<PlainLayout> got) {
    boolean mdtIsMet = onMdt == 0 || CompositeRequest.isOnMdt(got.get(0));
    LayoutRequest rest = plain(stripeCount, PlainLayout.NOT_TOLD, List.of());
    return mdtIsMet && rest.isMetBy(got.get(got.size() - 1))
        && (!hasOne() || oneIsMetBy(got.get(got.size() - 2)));
  }

  private boolean oneIsMetBy(PlainLayout got) {
    return (got.objects().isEmpty() ? plain(1, PlainLayout.NOT_TOLD, List.of()) : one())
        .isMetBy(got);
  }

  private boolean isMetBy(PlainLayout got) {
    List<Integer> gotOsts = got.objects().stream().map(OstObject::ostIndex)
        .collect(Collectors.toUnmodifiableList());
    return (stripeSize == 0 || got.stripeSize() == stripeSize)
        && (stripeCount <= 0 || got.stripeCount() == stripeCount)
        && (pool.isEmpty() || pool.equals(got.pool()))
        && (start == PlainLayout.NOT_TOLD || got.stripeOffset().equals(Optional.of(start)))
        && (osts.isEmpty() || osts.equals(gotOsts));
  }

  private Magic magic() {
    if (!osts.isEmpty()) {
      return Magic.SPECIFIC;
    }
    return pool.isPresent() ? Magic.V3 : Magic.V1;
  }

  private int magicNumber() {
    switch (magic()) {
      case SPECIFIC:
        return LayoutBits.MAGIC_SPECIFIC;
      case V3:
        return LayoutBits.MAGIC_V3;
      default:
        return LayoutBits.MAGIC_V1;
    }
  }

  // An OST that is named twice gets two objects.
  private int pattern() {
    boolean overstriped = osts.stream().distinct().count() < osts.size();
    return LayoutBits.PATTERN_RAID0 | (overstriped ? LayoutBits.PATTERN_OVERSTRIPING : 0);
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }

  @Override
  public String toString() {
    return (onMdt == 0 ? "" : onMdt + " on the MDT, then ")
        + (hasOne() ? "one object up to " + onOne + ", then " : "")
        + stripeSize + " x " + stripeCount + (osts.isEmpty() ? "" : " on OSTs " + osts)
        + (start == PlainLayout.NOT_TOLD ? "" : " from OST " + start)
        + pool.map(name -> " in pool " + name).orElse("");
  }
}
