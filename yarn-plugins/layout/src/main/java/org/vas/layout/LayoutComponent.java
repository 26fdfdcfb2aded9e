package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.util.List;

/** One entry of a composite layout: an extent of the file and how it is laid out. */
public final class LayoutComponent {
  /** The {@link #end()} of an extent that reaches to the end of the file. */
  public static final long END_OF_FILE = Long.MAX_VALUE;

  private final long id;
  private final int flags;
  private final long storedStart;
  private final long storedEnd;
  private final StripeLayout layout;

  LayoutComponent(long id, int flags, long storedStart, long storedEnd, StripeLayout layout) {
    this.id = id;
    this.flags = flags;
    this.storedStart = storedStart;
    this.storedEnd = storedEnd;
    this.layout = requireNonNull(layout, "layout");
  }

  public long id() {
    return id;
  }

  /** Returns the upper half of the id. */
  public long mirrorId() {
    return id >> 16;
  }

  /** Returns the flags by their {@code lfs} names, unknown ones as {@code 0x...}. */
  public List<String> flagNames() {
    return LayoutBits.flagNames(flags);
  }

  /** Returns the first byte of the extent. */
  public long start() {
    return reachable(storedStart);
  }

  /** Returns the first byte after the extent, or {@link #END_OF_FILE}. */
  public long end() {
    return reachable(storedEnd);
  }

  public StripeLayout layout() {
    return layout;
  }

  /** Returns the first byte of the extent as stored, an unsigned number. */
  long storedStart() {
    return storedStart;
  }

  /** Returns the first byte after the extent as stored, unsigned; -1 for the end of the file. */
  long storedEnd() {
    return storedEnd;
  }

  boolean covers(long offset) {
    return start() <= offset && offset < end();
  }

  boolean isReadable() {
    return !has(LayoutBits.FLAG_STALE | LayoutBits.FLAG_OFFLINE | LayoutBits.FLAG_PARITY);
  }

  boolean isPreferredForReading() {
    return has(LayoutBits.FLAG_PREFER_READ);
  }

  boolean isExtensionSpace() {
    return has(LayoutBits.FLAG_EXTENSION);
  }

  private boolean has(int flag) {
    return (flags & flag) != 0;
  }

  // No file reaches the upper half of the unsigned numbers.
  private static long reachable(long stored) {
    return stored < 0 ? END_OF_FILE : stored;
  }

  @Override
  public String toString() {
    String until = end() == END_OF_FILE ? "EOF" : Long.toString(end());
    return "[" + start() + "," + until + ") " + flagNames() + " " + layout;
  }
}
