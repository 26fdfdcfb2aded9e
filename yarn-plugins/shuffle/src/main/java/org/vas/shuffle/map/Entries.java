package org.vas.shuffle.map;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Holds the entries by which a buffer's records are sorted: for each record two longs, the prefix
 * of its key and its place.
 *
 * <p>A place is partition (20 bits), block (13 bits) and offset in the block (31 bits). Entries are
 * taken in pages, and brought into one array when the buffer is full; the memory for that array and
 * for sorting it is taken with the page, so each entry counts 32 bytes.
 */
final class Entries {
  static final int MAX_PARTITIONS = 1 << 20;
  static final int MAX_BLOCKS = 1 << 13;
  /** Bytes of a page of entries together with its share of the sorted arrays. */
  static final long PAGE_BYTES = 2 * 16 * 4096;

  private static final int OFFSET_BITS = 31;
  private static final int BLOCK_BITS = 13;
  private static final int PAGE_LONGS = 2 * 4096;

  private final BufferMemory memory;
  private final int[] counts;
  private final List<long[]> pages = new ArrayList<>();
  private long[] page = new long[0];
  private int used;
  private long taken;

  Entries(int partitions, BufferMemory memory) {
    this.counts = new int[partitions];
    this.memory = memory;
  }

  static long place(int partition, int block, int offset) {
    return ((long) partition << (OFFSET_BITS + BLOCK_BITS))
        | ((long) block << OFFSET_BITS) | offset;
  }

  static int partition(long place) {
    return (int) (place >>> (OFFSET_BITS + BLOCK_BITS));
  }

  static int block(long place) {
    return (int) (place >>> OFFSET_BITS) & (MAX_BLOCKS - 1);
  }

  static int offset(long place) {
    return (int) place & Integer.MAX_VALUE;
  }

  /**
   * Makes room for one more entry, with another page if need be; returns false if there is no
   * memory.
   */
  boolean makeRoom() {
    if (used < page.length) {
      return true;
    }
    if (!memory.take(PAGE_BYTES)) {
      return false;
    }
    taken += PAGE_BYTES;
    page = new long[PAGE_LONGS];
    pages.add(page);
    used = 0;
    return true;
  }

  void add(long prefix, int partition, int block, int offset) {
    page[used] = prefix;
    page[used + 1] = place(partition, block, offset);
    used += 2;
    counts[partition]++;
  }

  int count() {
    return pages.isEmpty() ? 0 : ((pages.size() - 1) * PAGE_LONGS + used) / 2;
  }

  int count(int partition) {
    return counts[partition];
  }

  /** Returns all entries by partition, each in the order of {@link #add}; frees the pages. */
  long[] byPartition() {
    int[] next = new int[counts.length];
    for (int i = 1; i < next.length; i++) {
      next[i] = next[i - 1] + 2 * counts[i - 1];
    }
    long[] sorted = new long[2 * count()];
    for (int i = 0; i < pages.size(); i++) {
      scatter(pages.get(i), i == pages.size() - 1 ? used : PAGE_LONGS, sorted, next);
    }
    dropPages();
    return sorted;
  }

  /** Removes all entries, and gives their memory back. */
  void clear() {
    memory.give(taken);
    taken = 0;
    dropPages();
    Arrays.fill(counts, 0);
  }

  private static void scatter(long[] page, int length, long[] sorted, int[] next) {
    for (int i = 0; i < length; i += 2) {
      long place = page[i + 1];
      int partition = partition(place);
      int at = next[partition];
      sorted[at] = page[i];
      sorted[at + 1] = place;
      next[partition] = at + 2;
    }
  }

  private void dropPages() {
    pages.clear();
    page = new long[0];
    used = 0;
  }
}
