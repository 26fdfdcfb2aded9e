package org.vas.shuffle.map;

import java.util.Arrays;
import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.order.KeyOrder;

/**
 * Sorts entries (pairs of prefix and place) by their keys; stable.
 *
 * <p>Radix sort, least byte first, over the highest bytes in which the prefixes differ: as many as
 * can tell that many entries apart. Entries that are equal in these bytes are sorted in the same
 * way by the rest of their prefixes, then by the prefixes of what their keys have behind the bytes
 * that they share, and at last by the keys themselves. Sorting changes the prefixes of entries.
 */
final class EntrySorter {
  private static final int SMALL = 24;
  private static final int VALUES = 256;
  // Keys that share more are few, or long: they are compared.
  private static final int MOST_SHARED = 4 * KeyOrder.PREFIX_CONTENT;

  private final KeyOrder order;
  private final TiedRecords ties;
  private final Progressable progress;
  private final int[] counts = new int[VALUES];
  private long[] scratch = new long[0];

  EntrySorter(KeyOrder order, Records records, Progressable progress) {
    this.order = order;
    this.ties = new TiedRecords(order, records, progress);
    this.progress = progress;
  }

  /** Sorts entries[from, to); both numbers count entries, each of two longs. */
  void sort(long[] entries, int from, int to) {
    if (to - from > SMALL && scratch.length < 2 * (to - from)) {
      scratch = null;
      scratch = new long[2 * (to - from)];
    }
    sortRange(entries, from, to, 0);
  }

  // Of keys that share so many bytes; their prefixes are of what is behind.
  private void sortRange(long[] entries, int from, int to, int shared) {
    if (to - from <= SMALL) {
      insert(entries, from, to);
      return;
    }
    long differing = differing(entries, from, to);
    if (differing == 0) {
      sortTied(entries, from, to, shared);
      return;
    }
    progress.progress();
    long sorted = radix(entries, from, to, differing);
    int start = from;
    for (int i = from + 1; i <= to; i++) {
      if (i == to || ((entries[2 * i] ^ entries[2 * start]) & sorted) != 0) {
        if (i - start > 1) {
          sortRange(entries, start, i, shared);
        }
        start = i;
      }
    }
  }

  private void sortTied(long[] entries, int from, int to, int shared) {
    long prefix = entries[2 * from];
    int more = shared + KeyOrder.PREFIX_CONTENT;
    if (order.goesOn(prefix) && more <= MOST_SHARED) {
      ties.goBehind(more, entries, from, to);
      sortRange(entries, from, to, more);
    } else if (!order.decides(prefix)) {
      ties.sort(entries, from, to, scratch);
    }
  }

  private static long differing(long[] entries, int from, int to) {
    long first = entries[2 * from];
    long differing = 0;
    for (int i = 2 * from + 2; i < 2 * to; i += 2) {
      differing |= entries[i] ^ first;
    }
    return differing;
  }

  // Sorts by some of the highest differing bytes; returns the bits of the prefix now in order.
  private long radix(long[] entries, int from, int to, long differing) {
    int wanted = (Integer.SIZE - Integer.numberOfLeadingZeros(to - from) + 7) / 8;
    int lowest = Long.SIZE;
    for (int found = 0; lowest > 0 && found < wanted; ) {
      lowest -= 8;
      found += (differing >>> lowest & 0xff) == 0 ? 0 : 1;
    }
    long[] source = entries;
    int sourceAt = 2 * from;
    int length = 2 * (to - from);
    for (int shift = lowest; shift < Long.SIZE; shift += 8) {
      if ((differing >>> shift & 0xff) != 0) {
        boolean back = source != entries;
        long[] target = back ? entries : scratch;
        int targetAt = back ? 2 * from : 0;
        pass(source, sourceAt, length, shift, target, targetAt);
        source = target;
        sourceAt = targetAt;
      }
    }
    if (source != entries) {
      System.arraycopy(source, 0, entries, 2 * from, length);
    }
    return -1L << lowest;
  }

  private void pass(long[] source, int from, int length, int shift, long[] target, int targetAt) {
    int[] next = counts;
    Arrays.fill(next, 0);
    int end = from + length;
    for (int i = from; i < end; i += 2) {
      next[(int) (source[i] >>> shift) & 0xff] += 2;
    }
    int at = targetAt;
    for (int value = 0; value < VALUES; value++) {
      int count = next[value];
      next[value] = at;
      at += count;
    }
    for (int i = from; i < end; i += 2) {
      long prefix = source[i];
      int value = (int) (prefix >>> shift) & 0xff;
      int to = next[value];
      next[value] = to + 2;
      target[to] = prefix;
      target[to + 1] = source[i + 1];
    }
  }

  private void insert(long[] entries, int from, int to) {
    for (int i = from + 1; i < to; i++) {
      long prefix = entries[2 * i];
      long place = entries[2 * i + 1];
      int at = i;
      while (at > from && follows(entries, at - 1, prefix, place)) {
        entries[2 * at] = entries[2 * at - 2];
        entries[2 * at + 1] = entries[2 * at - 1];
        at--;
      }
      entries[2 * at] = prefix;
      entries[2 * at + 1] = place;
    }
  }

  private boolean follows(long[] entries, int at, long prefix, long place) {
    long other = entries[2 * at];
    return other == prefix
        ? !order.decides(prefix) && ties.compare(entries[2 * at + 1], place) > 0
        : other + Long.MIN_VALUE > prefix + Long.MIN_VALUE;
  }
}
