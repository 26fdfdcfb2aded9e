package org.vas.layout;

import java.util.Objects;

/** A byte range of a file that one OST holds, or of which the OST is not known. */
public final class StripeRun {
  /** The OST index of bytes that no known OST holds (not instantiated, released, on an MDT). */
  public static final int UNKNOWN = -1;

  private final long offset;
  private final long length;
  private final int ostIndex;

  public StripeRun(long offset, long length, int ostIndex) {
    this.offset = offset;
    this.length = length;
    this.ostIndex = ostIndex;
  }

  /** Returns the first byte, counted from the start of the file. */
  public long offset() {
    return offset;
  }

  /** Returns the length of the run in bytes. */
  public long length() {
    return length;
  }

  /** Returns the first byte after the run. */
  public long end() {
    return offset + length;
  }

  /** Returns the OST's index, or {@link #UNKNOWN}. */
  public int ostIndex() {
    return ostIndex;
  }

  /** Returns whether an OST is known to hold these bytes. */
  public boolean isKnown() {
    return ostIndex != UNKNOWN;
  }

  @Override
  public boolean equals(Object other) {
    if (!(other instanceof StripeRun)) {
      return false;
    }
    StripeRun that = (StripeRun) other;
    return offset == that.offset && length == that.length && ostIndex == that.ostIndex;
  }

  @Override
  public int hashCode() {
    return Objects.hash(offset, length, ostIndex);
  }

  @Override
  public String toString() {
    return "[" + offset + "," + end() + ")@" + (isKnown() ? "OST" + ostIndex : "unknown");
  }
}
