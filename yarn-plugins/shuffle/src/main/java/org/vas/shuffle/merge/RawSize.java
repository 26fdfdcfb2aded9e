package org.vas.shuffle.merge;

import org.vas.shuffle.mof.VInts;

/** Computes how many bytes a record takes in an IFile before compression. */
final class RawSize {
  /** Bytes of the end marker: two lengths of -1. */
  static final int END_MARKER = 2;

  private RawSize() {}

  static long of(int keyLength, int valueLength) {
    return (long) keyLength + valueLength + VInts.size(keyLength) + VInts.size(valueLength);
  }
}
