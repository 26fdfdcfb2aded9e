package org.vas.shuffle.merge;

/**
 * Which segments to merge into one while there are too many. Always neighbours, so that equal keys
 * keep the order of maps and runs; of all neighbours those with the fewest bytes.
 */
final class PassPlan {
  private PassPlan() {}

  /** How many to merge next: after a first smaller pass, all others are full. */
  static int width(int segments, int fanIn) {
    if (segments <= fanIn) {
      return segments;
    }
    int rest = (segments - 1) % (fanIn - 1);
    return rest == 0 ? fanIn : rest + 1;
  }

  /** The first of so many neighbours with the fewest bytes together. */
  static int smallest(long[] bytes, int width) {
    long sum = 0;
    for (int i = 0; i < width; i++) {
      sum += bytes[i];
    }
    long best = sum;
    int first = 0;
    for (int i = width; i < bytes.length; i++) {
      sum += bytes[i] - bytes[i - width];
      if (sum < best) {
        best = sum;
        first = i - width + 1;
      }
    }
    return first;
  }
}
