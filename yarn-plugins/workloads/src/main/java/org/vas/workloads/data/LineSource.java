package org.vas.workloads.data;

import java.util.SplittableRandom;

/** Makes lines of ASCII, one after another. */
interface LineSource {
  /**
   * Returns a line of a file, without its end.
   *
   * @param random the source of all that differs between lines
   * @param file the file's number
   * @param number the line's number in the file
   */
  String next(SplittableRandom random, int file, long number);
}
