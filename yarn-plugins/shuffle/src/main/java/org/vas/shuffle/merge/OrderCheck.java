package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import org.vas.shuffle.order.KeyOrder;

/**
 * Sees whether records come in the order of the job's sort comparator, in the thread that hands them
 * to reduce(). Whatever mixed them up, a job of wrong groups must not succeed.
 *
 * <p>Of orders that this project knows it compares prefixes, and in a batch what prefixes leave
 * open: that calls no code of the job. It calls a comparator of the job only if it was made with
 * one, and then for records in batches only. Not for several threads.
 */
public final class OrderCheck {
  // A longer key is not copied: of two large records one is in memory.
  private static final int LONGEST_COPY = 4 << 10;
  private static final int UNKNOWN = -1;

  private final KeyOrder order;
  private final String where;
  private final String why;
  private final boolean ties;
  private final byte[] copy = new byte[LONGEST_COPY];

  // The key before: its prefix with the sign turned, and where it is.
  private long prefix = Long.MIN_VALUE;
  private byte[] key = copy;
  private int keyStart;
  private int keyLength = UNKNOWN;
  private long records;

  private OrderCheck(KeyOrder order, String where, String why) {
    this.order = order;
    this.where = where;
    this.why = why;
    this.ties = order != null && !order.decides();
  }

  /**
   * Returns a check of this order.
   *
   * @param where names job and attempt in the error
   * @param why says in the error what the likely cause is, and the fix
   */
  public static OrderCheck of(KeyOrder order, String where, String why) {
    return new OrderCheck(requireNonNull(order, "order"), requireNonNull(where, "where"),
        requireNonNull(why, "why"));
  }

  /** Returns a check that looks at nothing. */
  public static OrderCheck none() {
    return new OrderCheck(null, "", "");
  }

  /** Compares the prefix of the next key with that of the key before. */
  void check(byte[] data, int offset, int length) throws DisorderException {
    if (order != null) {
      long next = order.prefix(data, offset, length) ^ Long.MIN_VALUE;
      if (next < prefix) {
        outOfOrder(length);
      }
      prefix = next;
      keyLength = length;
      records++;
    }
  }

  /** Compares each key of a batch with the key before it. */
  void check(Batch batch) throws DisorderException {
    if (order != null) {
      byte[] data = batch.data();
      int[] ends = batch.ends();
      int limit = 2 * batch.records();
      int start = 0;
      for (int i = 0; i < limit; i += 2) {
        int length = ends[i] - start;
        long next = order.prefix(data, start, length) ^ Long.MIN_VALUE;
        if (next <= prefix && (next < prefix || follows(data, start, length))) {
          outOfOrder(length);
        }
        prefix = next;
        key = data;
        keyStart = start;
        keyLength = length;
        records++;
        start = ends[i + 1];
      }
      keepKey();
    }
  }

  private boolean follows(byte[] data, int start, int length) {
    return ties && keyLength != UNKNOWN
        && order.compareTied(key, keyStart, keyLength, data, start, length) > 0;
  }

  // The batch's array will be filled again.
  private void keepKey() {
    if (ties) {
      if (keyLength > LONGEST_COPY) {
        keyLength = UNKNOWN;
      } else if (keyLength != UNKNOWN) {
        System.arraycopy(key, keyStart, copy, 0, keyLength);
      }
      key = copy;
      keyStart = 0;
    }
  }

  // Of keys too short for their comparator it sees bytes that are not theirs, in stock too: then any
  // order is right.
  private void outOfOrder(int length) throws DisorderException {
    if (Math.min(length, keyLength) >= order.shortestKey()) {
      throw new DisorderException(where + ": record " + (records + 1)
          + " of the merged map outputs sorts before the one before it, so groups would be wrong: "
          + why);
    }
  }
}
