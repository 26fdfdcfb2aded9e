package org.vas.workloads.data;

import java.util.SplittableRandom;
import java.util.function.LongFunction;

/** What a generator makes: how its lines look follows from the bytes of all of them. */
enum Kind {
  /** For SelfJoin: four items in their order, two lines of which have the first three in common. */
  ASSOCIATIONS(Associations::new),
  /** For InvertedIndex and SequenceCount: a name, a tab, words that repeat as those of texts do. */
  DOCUMENTS(bytes -> new Documents()),
  /** For AdjacencyList: two nodes with a tab between them; a few nodes have very many edges. */
  EDGES(Edges::new);

  private final LongFunction<Lines> make;

  Kind(LongFunction<Lines> make) {
    this.make = make;
  }

  Lines lines(long bytes) {
    return make.apply(bytes);
  }

  /**
   * A number below the bound, small ones often: of n numbers the r-th is drawn as often as
   * r to the power of -2/3 has it.
   */
  static long skewed(SplittableRandom random, long bound) {
    double drawn = random.nextDouble();
    return (long) (bound * drawn * drawn * drawn);
  }
}
