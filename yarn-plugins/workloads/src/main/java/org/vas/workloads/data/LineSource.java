package org.vas.workloads.data;

import java.util.SplittableRandom;

/** Makes lines of ASCII, one after another. */
interface LineSource {
  /** Returns the file's n-th line, without its end, from what is drawn. */
  String next(SplittableRandom random, int file, long number);
}
