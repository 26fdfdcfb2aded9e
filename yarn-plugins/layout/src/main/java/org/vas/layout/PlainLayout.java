package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One striping pattern over a list of OST objects (LOV v1, or v3 with a pool). */
public final class PlainLayout implements StripeLayout {
  /** {@link #stripeCount()} of a request or a default for all OSTs there are. */
  public static final int ALL_OSTS = -1;

  static final int NO_START = 0xFFFF;
  private static final int ALL_OSTS_ON_DISK = 0xFFFF;

  private final String magic;
  private final int pattern;
  private final long stripeSize;
  private final int storedCount;
  private final int storedStart;
  private final Optional<String> pool;
  private final List<StripeObject> objects;

  PlainLayout(String magic, int pattern, long stripeSize, int storedCount, int storedStart,
      Optional<String> pool, List<StripeObject> objects) {
    this.magic = requireNonNull(magic, "magic");
    this.pattern = pattern;
    this.stripeSize = stripeSize;
    this.storedCount = storedCount;
    this.storedStart = storedStart;
    this.pool = requireNonNull(pool, "pool");
    this.objects = List.copyOf(objects);
  }

  /** {@code v1}, or {@code v3} when the layout can name a pool. */
  public String magic() {
    return magic;
  }

  /** The pattern's bits. */
  public int pattern() {
    return pattern;
  }

  /** The pattern's bits by their {@code lfs} names, unknown ones as {@code 0x...}. */
  public List<String> patternNames() {
    return LayoutBits.patternNames(pattern);
  }

  /** Bytes; 0 in a directory default that inherits it. */
  public long stripeSize() {
    return stripeSize;
  }

  /** Objects the file has or will have, or {@link #ALL_OSTS}. */
  public int stripeCount() {
    return storedCount == ALL_OSTS_ON_DISK ? ALL_OSTS : storedCount;
  }

  /** The first OST: of the first object, or the start that a request or a default names. */
  public Optional<Integer> stripeOffset() {
    if (!objects.isEmpty()) {
      return Optional.of(objects.get(0).ostIndex());
    }
    return storedStart == NO_START ? Optional.empty() : Optional.of(storedStart);
  }

  /** The generation, or the start index in a layout without objects: one field holds both. */
  public int generation() {
    return storedStart;
  }

  public Optional<String> pool() {
    return pool;
  }

  /** Empty unless OSTs hold the file's bytes. */
  public List<StripeObject> objects() {
    return objects;
  }

  @Override
  public Optional<PlainLayout> at(long offset) {
    return Optional.of(this);
  }

  @Override
  public List<StripeRun> ownersOf(long offset, long length) {
    RunBuilder runs = new RunBuilder(offset, length);
    addRuns(runs, runs.end());
    return runs.build();
  }

  /** Appends the owners up to {@code end}. */
  void addRuns(RunBuilder runs, long end) {
    if (!hasPlacement()) {
      runs.upTo(end, StripeRun.UNKNOWN);
    } else if (objects.size() == 1) {
      runs.upTo(end, objects.get(0).ostIndex());
    } else {
      addStripes(runs, end);
    }
  }

  // The stripe number counts from the start of the file, inside PFL components too.
  private void addStripes(RunBuilder runs, long end) {
    while (runs.position() < end) {
      long stripe = runs.position() / stripeSize;
      long stripeEnd = stripe >= Long.MAX_VALUE / stripeSize ? end : (stripe + 1) * stripeSize;
      int ostIndex = objects.get((int) (stripe % objects.size())).ostIndex();
      runs.upTo(Math.min(stripeEnd, end), ostIndex);
    }
  }

  private boolean hasPlacement() {
    return !objects.isEmpty() && stripeSize > 0;
  }

  @Override
  public String toString() {
    return patternNames() + " " + stripeSize + " x " + stripeCount()
        + pool.map(name -> " pool " + name).orElse("") + " " + new ArrayList<>(objects);
  }
}
