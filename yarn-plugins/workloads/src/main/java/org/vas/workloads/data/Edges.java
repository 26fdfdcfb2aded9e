package org.vas.workloads.data;

import java.util.SplittableRandom;

/**
 * Makes lines of {@code FROM}, a tab, and {@code TO}: nodes have about nine edges on the average.
 */
final class Edges implements LineSource {
  private static final long BYTES_FOR_EACH_NODE = 128;

  private final long nodes;

  Edges(long bytes) {
    nodes = Math.max(1, bytes / BYTES_FOR_EACH_NODE);
  }

  @Override
  public String next(SplittableRandom random, int file, long number) {
    long from = random.nextLong(nodes);
    return from + "\t" + InputKind.skewed(random, nodes);
  }
}
