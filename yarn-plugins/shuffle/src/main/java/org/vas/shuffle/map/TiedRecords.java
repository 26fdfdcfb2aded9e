package org.vas.shuffle.map;

import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.mof.VInts;
import org.vas.shuffle.order.KeyOrder;

/** Sorts entries of one prefix by their whole keys: a stable merge sort. */
final class TiedRecords {
  private static final int SMALL = 8;
  private static final int COMPARISONS_PER_PROGRESS = 1 << 16;

  private final KeyOrder order;
  private final Records records;
  private final Progressable progress;
  private final Heads heads;
  private int comparisons;

  TiedRecords(KeyOrder order, Records records, Progressable progress) {
    this.order = order;
    this.records = records;
    this.progress = progress;
    this.heads = new Heads(records);
  }

  /** Compares the keys of two places with the same prefix. */
  int compare(long left, long right) {
    if (++comparisons % COMPARISONS_PER_PROGRESS == 0) {
      progress.progress();
    }
    byte[] leftBlock = records.block(left);
    byte[] rightBlock = records.block(right);
    int leftOffset = Entries.offset(left);
    int rightOffset = Entries.offset(right);
    return order.compareTied(
        leftBlock, Records.keyOffset(leftBlock, leftOffset), VInts.get(leftBlock, leftOffset),
        rightBlock, Records.keyOffset(rightBlock, rightOffset), VInts.get(rightBlock, rightOffset));
  }

  /**
   * Replaces the prefix of each of entries[from, to) by the prefix of that part of its key which
   * follows the shared bytes.
   */
  void goBehind(int shared, long[] entries, int from, int to) {
    for (int start = from; start < to; ) {
      int count = heads.read(entries, start, to);
      for (int i = 0; i < count; i++, start++) {
        byte[] block = records.block(entries[2 * start + 1]);
        entries[2 * start] =
            order.prefixBehind(block, heads.key(i), heads.keyLength(i), shared);
      }
      progress.progress();
    }
  }

  /** Sorts entries[from, to); both numbers count entries. The scratch has room for as many. */
  void sort(long[] entries, int from, int to, long[] scratch) {
    if (to - from <= SMALL) {
      insert(entries, from, to);
      return;
    }
    int middle = (from + to) >>> 1;
    sort(entries, from, middle, scratch);
    sort(entries, middle, to, scratch);
    if (compare(entries[2 * middle - 1], entries[2 * middle + 1]) > 0) {
      merge(entries, from, middle, to, scratch);
    }
  }

  private void insert(long[] entries, int from, int to) {
    for (int i = from + 1; i < to; i++) {
      long prefix = entries[2 * i];
      long place = entries[2 * i + 1];
      int at = i;
      while (at > from && compare(entries[2 * at - 1], place) > 0) {
        entries[2 * at] = entries[2 * at - 2];
        entries[2 * at + 1] = entries[2 * at - 1];
        at--;
      }
      entries[2 * at] = prefix;
      entries[2 * at + 1] = place;
    }
  }

  private void merge(long[] entries, int from, int middle, int to, long[] scratch) {
    int leftLength = 2 * (middle - from);
    System.arraycopy(entries, 2 * from, scratch, 0, leftLength);
    int left = 0;
    int right = 2 * middle;
    int out = 2 * from;
    while (left < leftLength && right < 2 * to) {
      if (compare(scratch[left + 1], entries[right + 1]) <= 0) {
        entries[out] = scratch[left];
        entries[out + 1] = scratch[left + 1];
        left += 2;
      } else {
        entries[out] = entries[right];
        entries[out + 1] = entries[right + 1];
        right += 2;
      }
      out += 2;
    }
    System.arraycopy(scratch, left, entries, out, leftLength - left);
  }
}
