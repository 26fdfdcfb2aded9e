package org.vas.shuffle.merge;

import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.util.Progress;

/** What an iterator looks like after its last record. */
final class Ended {
  private static final byte[] NOTHING = {};

  private Ended() {}

  static void set(DataInputBuffer key, DataInputBuffer value, Progress progress) {
    key.reset(NOTHING, 0);
    value.reset(NOTHING, 0);
    progress.set(1);
  }
}
