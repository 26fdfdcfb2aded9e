package org.vas.shuffle.merge;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Chooses which neighbours to merge next while there are too many items: those with the fewest
 * bytes together. Only neighbours are merged, so that equal keys keep the order of maps and runs.
 * The first step merges as few as let all later ones merge {@code fanIn}, so that no more is merged
 * than has to be.
 */
public final class PassPlan {
  private PassPlan() {}

  /**
   * Returns the items to merge into one next, as a view of the list.
   *
   * @param bytes gives the size of an item
   * @param most how many may be left in the end; there are more than that
   * @param fanIn how many can be merged at once, at least 2
   */
  public static <T> List<T> next(List<T> all, ToLongFunction<T> bytes, int most, int fanIn) {
    int rest = (all.size() - most) % (fanIn - 1);
    int width = rest == 0 ? fanIn : rest + 1;
    int first = smallest(all.stream().mapToLong(bytes).toArray(), width);
    return all.subList(first, first + width);
  }

  /** The first of so many neighbours with the fewest bytes together. */
  private static int smallest(long[] bytes, int width) {
    long sum = 0;
    long best = Long.MAX_VALUE;
    int first = 0;
    for (int i = 0; i < bytes.length; i++) {
      sum += bytes[i] - (i >= width ? bytes[i - width] : 0);
      if (i >= width - 1 && sum < best) {
        best = sum;
        first = i - width + 1;
      }
    }
    return first;
  }
}
