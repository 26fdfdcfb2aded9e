package org.vas.shuffle.mof;

import org.apache.hadoop.fs.Path;

/** Is told before each call of a file system that may block, so that a hung one can be named. */
@FunctionalInterface
public interface Watch {
  /** Sees nothing. */
  Watch NONE = file -> {};

  /** A call on this file begins; the one before has returned. */
  void calling(Path file);
}
