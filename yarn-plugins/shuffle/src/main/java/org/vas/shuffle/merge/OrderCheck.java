package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import org.vas.shuffle.order.KeyOrder;

/**
 * Checks that records come in the order of the job's sort comparator, in the thread that hands them
 * to reduce(). Whatever mixed them up, a job of wrong groups must not succeed.
 *
 * <p>In an order that {@link KeyOrder} knows it compares prefixes, and in a batch also keys whose
 * prefixes do not decide: that calls no code of the job. It calls a comparator of the job only if
 * it was made with one, and then for records in batches only. Not for several threads.
 */
public final class OrderCheck {
  // A longer key is not copied: of two large records one is in memory.
  private static final int LONGEST_COPY = 4 << 10;

  private final KeyOrder order;
  private final String where;
  private final String why;
  private final byte[] copy = new byte[LONGEST_COPY];

  // The key before: its prefix with the sign turned, its length, and whether it was copied.
  private long prefix = Long.MIN_VALUE;
  private int keyLength;
  private boolean copied;
  private long records;

  private OrderCheck(KeyOrder order, String where, String why) {
    this.order = order;
    this.where = where;
    this.why = why;
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
        outOfOrder(records, keyLength, length);
      }
      prefix = next;
      keyLength = length;
      records++;
    }
  }

  /** Compares each key of a batch with the key before it. */
  void check(Batch batch) throws DisorderException {
    if (order != null && batch.records() > 0) {
      byte[] data = batch.data();
      int[] ends = batch.ends();
      checkFirst(data, ends[0]);
      long last = prefix; // in a local variable: this loop is most of what the check costs
      int before = 0;
      for (int i = 2; i < 2 * batch.records(); i += 2) {
        int start = ends[i - 1];
        long next = order.prefix(data, start, ends[i] - start) ^ Long.MIN_VALUE;
        if (next <= last
            && (next < last || follows(next, data, before, ends[i - 2], start, ends[i]))) {
          outOfOrder(records + i / 2, ends[i - 2] - before, ends[i] - start);
        }
        last = next;
        before = start;
      }
      prefix = last;
      records += batch.records();
      keep(data, before, ends[2 * batch.records() - 2] - before);
    }
  }

  private void checkFirst(byte[] data, int length) throws DisorderException {
    long next = order.prefix(data, 0, length) ^ Long.MIN_VALUE;
    if (next < prefix || (next == prefix && copied
        && order.compareTied(copy, 0, keyLength, data, 0, length) > 0)) {
      outOfOrder(records, keyLength, length);
    }
    prefix = next;
  }

  private boolean follows(
      long tied, byte[] data, int before, int beforeEnd, int start, int end) {
    return !order.decides(tied ^ Long.MIN_VALUE)
        && order.compareTied(data, before, beforeEnd - before, data, start, end - start) > 0;
  }

  // The batch's array will be filled again.
  private void keep(byte[] data, int start, int length) {
    keyLength = length;
    copied = length <= LONGEST_COPY && !order.decides(prefix ^ Long.MIN_VALUE);
    if (copied) {
      System.arraycopy(data, start, copy, 0, length);
    }
  }

  // Of keys too short for their comparator it sees bytes that are not theirs, in stock too: then any
  // order is right.
  private void outOfOrder(long before, int beforeLength, int length) throws DisorderException {
    if (Math.min(length, beforeLength) >= order.shortestKey()) {
      throw new DisorderException(where + ": record " + (before + 1)
          + " of the merged map outputs sorts before the one before it, so groups would be wrong: "
          + why);
    }
  }
}
