package org.vas.workloads.data;

import java.util.SplittableRandom;

/** Makes lines of {@code A,B,C,D}: numbers of seven digits, each larger than the one before it. */
final class Associations implements LineSource {
  private static final long BYTES_FOR_EACH_PREFIX = 64;
  private static final int LEAST_ITEM = 1_000_000;
  private static final int STEP = 1_000_000;
  private static final int ITEMS_BEFORE_LAST = 3;

  private final long prefixes;

  Associations(long bytes) {
    prefixes = Math.max(1, bytes / BYTES_FOR_EACH_PREFIX);
  }

  @Override
  public String next(SplittableRandom random, int file, long number) {
    // What a prefix consists of is drawn from its number: it is the same in all files.
    SplittableRandom ofPrefix = new SplittableRandom(random.nextLong(prefixes));
    StringBuilder line = new StringBuilder();
    int item = LEAST_ITEM;
    for (int i = 0; i < ITEMS_BEFORE_LAST; i++) {
      item += 1 + ofPrefix.nextInt(STEP);
      line.append(item).append(',');
    }
    return line.append(item + 1 + random.nextInt(STEP)).toString();
  }
}
