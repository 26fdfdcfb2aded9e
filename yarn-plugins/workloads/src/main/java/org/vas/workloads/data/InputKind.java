package org.vas.workloads.data;

import java.util.SplittableRandom;

/** A kind of input that {@link Generate} makes. */
enum InputKind {
  /**
   * Input of SelfJoin: four items in order; about two lines at a time differ in the last one alone.
   */
  ASSOCIATIONS {
    @Override
    LineSource lines(long bytes) {
      return new Associations(bytes);
    }
  },
  /**
   * Input of InvertedIndex and SequenceCount: a name, a tab, and words that repeat as in real
   * texts.
   */
  DOCUMENTS {
    @Override
    LineSource lines(long bytes) {
      return new Documents();
    }
  },
  /**
   * Input of AdjacencyList: two nodes with a tab between them; a few nodes have very many edges.
   */
  EDGES {
    @Override
    LineSource lines(long bytes) {
      return new Edges(bytes);
    }
  };

  /** Returns the lines of this kind for files of {@code bytes} bytes in all. */
  abstract LineSource lines(long bytes);

  /**
   * Draws a number from 0 to {@code bound} - 1, small ones more often: the frequency of r falls as
   * r to the power of -2/3.
   */
  static long skewed(SplittableRandom random, long bound) {
    double drawn = random.nextDouble();
    return (long) (bound * drawn * drawn * drawn);
  }
}
