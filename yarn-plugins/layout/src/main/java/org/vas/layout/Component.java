package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.util.List;

/** One entry of a composite layout: an extent of the file and how it is laid out. */
public final class Component {
  /** {@link #end()} of an extent up to the end of the file, wherever that is. */
  public static final long END_OF_FILE = Long.MAX_VALUE;

  private final long id;
  private final int flags;
  private final long start;
  private final long end;
  private final StripeLayout layout;

  Component(long id, int flags, long start, long end, StripeLayout layout) {
    this.id = id;
    this.flags = flags;
    this.start = start;
    this.end = end;
    this.layout = requireNonNull(layout, "layout");
  }

  public long id() {
    return id;
  }

  /** The upper half of the id. */
  public long mirrorId() {
    return id >> 16;
  }

  /** The flags by their {@code lfs} names, unknown ones as {@code 0x...}. */
  public List<String> flagNames() {
    return LayoutBits.flagNames(flags);
  }

  /** First byte of the extent. */
  public long start() {
    return start;
  }

  /** First byte after the extent, or {@link #END_OF_FILE}. */
  public long end() {
    return end;
  }

  public StripeLayout layout() {
    return layout;
  }

  /** Whether the objects exist: without it the layout is only a request. */
  public boolean isInstantiated() {
    return has(LayoutBits.FLAG_INIT);
  }

  boolean covers(long offset) {
    return start <= offset && offset < end;
  }

  boolean isPlaced() {
    return isInstantiated() && !has(LayoutBits.FLAG_STALE | LayoutBits.FLAG_OFFLINE);
  }

  int readRank() {
    if (!isPlaced()) {
      return 2;
    }
    return has(LayoutBits.FLAG_PREFER_READ) ? 0 : 1;
  }

  private boolean has(int flag) {
    return (flags & flag) != 0;
  }

  @Override
  public String toString() {
    String until = end == END_OF_FILE ? "EOF" : Long.toString(end);
    return "[" + start + "," + until + ") " + flagNames() + " " + layout;
  }
}
