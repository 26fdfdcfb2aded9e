package org.vas.shuffle.map;

import java.util.List;

/**
 * Which neighbouring runs to merge next while there are too many: the fewest bytes of so many
 * neighbours. The first step takes as few as leave full ones, so that what is small goes first.
 */
final class MergeStep {
  private final int from;
  private final int width;

  private MergeStep(int from, int width) {
    this.from = from;
    this.width = width;
  }

  /**
   * The next step towards {@code most} runs; there are more than that.
   *
   * @param fanIn how many can be merged at once, at least 2
   */
  static MergeStep of(List<Run> runs, int most, int fanIn) {
    int surplus = runs.size() - most;
    int rest = surplus % (fanIn - 1);
    int width = rest == 0 ? fanIn : rest + 1;
    long[] bytes = runs.stream().mapToLong(Run::storedBytes).toArray();
    return new MergeStep(smallest(bytes, width), width);
  }

  /** The runs to merge, as a view of the list. */
  List<Run> in(List<Run> runs) {
    return runs.subList(from, from + width);
  }

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
