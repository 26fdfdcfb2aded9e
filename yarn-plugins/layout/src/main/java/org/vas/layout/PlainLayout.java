package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One striping over a list of OST objects: a file's, one component's, a default or a request.
 * Without objects it places nothing: it is a directory default, a request, a component nobody has
 * written to, data on the MDT, or a released file.
 */
public final class PlainLayout implements StripeLayout {
  /** The {@link #stripeCount()} of a request for all OSTs that exist. */
  public static final int ALL_OSTS = -1;

  static final int NOT_TOLD = 0xFFFF;
  private static final int FIRST_NEGATIVE_COUNT = 0xFFE0;

  /** The forms in which a plain layout is stored; an exact OST list is only ever a request. */
  enum Magic {
    V1("v1", 32),
    V3("v3", 48),
    SPECIFIC("specific", 48);

    private final String label;
    private final int headerSize;

    Magic(String label, int headerSize) {
      this.label = label;
      this.headerSize = headerSize;
    }

    String label() {
      return label;
    }

    int headerSize() {
      return headerSize;
    }
  }

  private final Magic magic;
  private final int pattern;
  private final long stripeSize;
  private final int stripeCount;
  private final int lastField;
  private final Optional<String> pool;
  private final List<OstObject> objects;

  PlainLayout(Magic magic, int pattern, long stripeSize, int stripeCount, int lastField,
      Optional<String> pool, List<OstObject> objects) {
    this.magic = requireNonNull(magic, "magic");
    this.pattern = pattern;
    this.stripeSize = stripeSize;
    this.stripeCount = stripeCount;
    this.lastField = lastField;
    this.pool = requireNonNull(pool, "pool");
    this.objects = List.copyOf(objects);
  }

  /**
   * Returns a stored count as a signed number: from 0xffe0 on they are negative, -1 for all OSTs,
   * -2 to -32 for that many stripes on each.
   */
  static int countOf(int stored) {
    return stored >= FIRST_NEGATIVE_COUNT ? stored - 0x10000 : stored;
  }

  /** Returns {@code v1}, {@code v3} if it can name a pool, {@code specific} with listed OSTs. */
  public String magic() {
    return magic.label();
  }

  /** Returns the bits of the pattern, as in {@code lmm_pattern}. */
  public int pattern() {
    return pattern;
  }

  /** Returns the pattern's bits by their {@code lfs} names, unknown ones as {@code 0x...}. */
  public List<String> patternNames() {
    return LayoutBits.patternNames(pattern);
  }

  /** Returns the stripe size in bytes; 0 in a directory default that inherits it. */
  public long stripeSize() {
    return stripeSize;
  }

  /** Returns how many objects the file has or will have; negative for {@link #ALL_OSTS}. */
  public int stripeCount() {
    return stripeCount;
  }

  /**
   * Returns the OST of the first object, or the one that a request starts at; empty if neither is
   * known.
   */
  public Optional<Integer> stripeOffset() {
    if (!objects.isEmpty()) {
      return Optional.of(objects.get(0).ostIndex());
    }
    return lastField == NOT_TOLD ? Optional.empty() : Optional.of(lastField);
  }

  /** Returns the layout's generation; 0 if it is not known, as {@code getxattr} hides it. */
  public int generation() {
    return objects.isEmpty() || lastField == NOT_TOLD ? 0 : lastField;
  }

  public Optional<String> pool() {
    return pool;
  }

  /** Returns the objects; empty when nothing is placed. */
  public List<OstObject> objects() {
    return objects;
  }

  /** Returns whether the objects tell which OST holds a byte. */
  public boolean isPlaced() {
    return !objects.isEmpty() && magic != Magic.SPECIFIC
        && (pattern & ~LayoutBits.PATTERN_OVERSTRIPING) == LayoutBits.PATTERN_RAID0;
  }

  @Override
  public Optional<PlainLayout> at(long offset) {
    return Optional.of(this);
  }

  @Override
  public void forEachRun(long offset, long length, Consumer<StripeRun> sink) {
    RunBuilder runs = new RunBuilder(offset, length, sink);
    addRuns(runs, runs.end());
    runs.finish();
  }

  /** Passes the owners of the bytes before {@code end} that have none yet to {@code runs}. */
  void addRuns(RunBuilder runs, long end) {
    if (!isPlaced()) {
      runs.upTo(end, StripeRun.UNKNOWN);
    } else if (objects.size() == 1) {
      runs.upTo(end, owner(0));
    } else {
      addStripes(runs, end);
    }
  }

  // The stripe number counts from the start of the file, inside PFL components too.
  private void addStripes(RunBuilder runs, long end) {
    while (runs.position() < end) {
      long stripe = runs.position() / stripeSize;
      long left = (stripe + 1) * stripeSize - runs.position();
      long stripeEnd = left > 0 && left < end - runs.position() ? runs.position() + left : end;
      runs.upTo(stripeEnd, owner(stripe));
    }
  }

  @Override
  public void forEachShare(long offset, long length, ShareSink sink) {
    addShares(offset, RunBuilder.endOf(offset, length), sink);
  }

  /** Tells the sink how many bytes of {@code [start, end)} each OST holds. */
  void addShares(long start, long end, ShareSink sink) {
    if (start >= end) {
      return;
    }
    if (!isPlaced()) {
      sink.add(StripeRun.UNKNOWN, end - start);
      return;
    }
    long first = start / stripeSize;
    long stripes = Math.min((end - 1) / stripeSize - first + 1, objects.size());
    for (long stripe = first; stripe < first + stripes; stripe++) {
      int index = (int) (stripe % objects.size());
      sink.add(owner(index), bytesBelow(index, end) - bytesBelow(index, start));
    }
  }

  // What the object holds of the file's first bytes: whole rounds, and a part of the last one.
  private long bytesBelow(int index, long offset) {
    long round = stripeSize * objects.size();
    long inLastRound = offset % round - index * stripeSize;
    return offset / round * stripeSize + Math.max(0, Math.min(stripeSize, inLastRound));
  }

  private int owner(long stripe) {
    return Math.max(objects.get((int) (stripe % objects.size())).ostIndex(), StripeRun.UNKNOWN);
  }

  @Override
  public String toString() {
    return patternNames() + " " + stripeSize + " x " + stripeCount
        + pool.map(name -> " in pool " + name).orElse("") + " " + objects;
  }
}
