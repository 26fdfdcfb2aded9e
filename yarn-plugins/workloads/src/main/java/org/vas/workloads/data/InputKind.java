package org.vas.workloads.data;

import java.util.SplittableRandom;

/** A kind of input that a generator makes. */
enum InputKind {
  /** For SelfJoin: four items in order; about two lines at a time differ in the last one alone. */
  ASSOCIATIONS {
    @Override
    LineSource lines(long bytes) {
      return new Associations(bytes);
    }
  },
  /** For InvertedIndex and SequenceCount: a name, a tab, words that repeat as those of texts do. */
  DOCUMENTS {
    @Override
    LineSource lines(long bytes) {
      return new Documents();
    }
  },
  /** For AdjacencyList: two nodes with a tab between them; a few nodes have very many edges. */
  EDGES {
    @Override
    LineSource lines(long bytes) {
      return new Edges(bytes);
    }
  };

  /** Returns the lines of this kind for files that have so many bytes together. */
  abstract LineSource lines(long bytes);

  /**
   * Draws a number below the bound, small ones often: of n numbers the r-th is drawn as often as r
   * to the power of -2/3 has it.
   */
  static long skewed(SplittableRandom random, long bound) {
    double drawn = random.nextDouble();
    return (long) (bound * drawn * drawn * drawn);
  }
}
