package org.vas.workloads.data;

import java.util.SplittableRandom;

/** Makes lines of ASCII, one after another. */
interface LineSource {
  /** A line, without its end, from what is drawn; it is the file's n-th one. */
  String next(SplittableRandom random, int file, long number);
}
