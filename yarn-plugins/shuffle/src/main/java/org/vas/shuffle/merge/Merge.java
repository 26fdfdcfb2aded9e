package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.vas.shuffle.order.KeyOrder;

/**
 * Merges several sorted inputs into one order, by a tree of losers. Keys that compare equal come in
 * the order of the inputs. A record stays valid until the next {@link #next}.
 */
public final class Merge implements Closeable {
  private static final int NONE = -1;

  private final RecordCursor[] inputs;
  private final KeyOrder order;
  // Of each input's record; the sign turned, so that a signed comparison orders them.
  private final long[] prefixes;
  private final boolean[] ended;
  private final int[] losers;
  private final AtomicLong moves = new AtomicLong();
  private long loads;
  private int winner = NONE;
  private RecordCursor record;

  /** Makes a merge of these inputs; {@link #close} closes them all. */
  public Merge(List<RecordCursor> inputs, KeyOrder order) {
    this.inputs = inputs.toArray(new RecordCursor[0]);
    this.order = requireNonNull(order, "order");
    this.prefixes = new long[inputs.size()];
    this.ended = new boolean[inputs.size()];
    this.losers = new int[Math.max(1, inputs.size())];
  }

  /** Goes to the next record; returns false at the end of all inputs. */
  public boolean next() throws IOException {
    if (winner == NONE) {
      start();
    } else {
      load(winner);
      replay(winner);
    }
    if (winner == NONE || ended[winner]) {
      return false;
    }
    record = inputs[winner];
    record.whole();
    return true;
  }

  /** Returns the bytes that the record is in. */
  public byte[] data() {
    return record.data;
  }

  /** Returns the offset of the record's key. */
  public int offset() {
    return record.offset;
  }

  public int keyLength() {
    return record.keyLength;
  }

  /** Returns the number of bytes of the value, which stands right after the key. */
  public int valueLength() {
    return record.valueLength;
  }

  /**
   * Returns how often an input went on, for any thread: as long as it stays the same, the merge
   * does not get anywhere.
   */
  long moves() {
    return moves.get();
  }

  private void start() throws IOException {
    Arrays.fill(losers, NONE);
    for (int i = 0; i < inputs.length; i++) {
      load(i);
    }
    for (int i = 0; i < inputs.length; i++) {
      enter(i);
    }
  }

  // Climbs until a node where nobody waits yet; the last to enter reaches the top.
  private void enter(int input) {
    int best = input;
    for (int node = (input + inputs.length) >> 1; node > 0; node >>= 1) {
      int other = losers[node];
      if (other == NONE) {
        losers[node] = best;
        return;
      }
      if (before(other, best)) {
        losers[node] = best;
        best = other;
      }
    }
    winner = best;
  }

  private void load(int input) throws IOException {
    RecordCursor cursor = inputs[input];
    moves.lazySet(++loads);
    if (!ended[input] && cursor.next()) {
      prefixes[input] =
          order.prefix(cursor.data, cursor.offset, cursor.keyLength) ^ Long.MIN_VALUE;
    } else {
      prefixes[input] = Long.MAX_VALUE;
      ended[input] = true;
    }
  }

  private void replay(int input) {
    int best = input;
    long prefix = prefixes[best];
    for (int node = (input + inputs.length) >> 1; node > 0; node >>= 1) {
      int other = losers[node];
      long others = prefixes[other];
      if (others < prefix || (others == prefix && beforeTied(other, best))) {
        losers[node] = best;
        best = other;
        prefix = others;
      }
    }
    winner = best;
  }

  private boolean before(int left, int right) {
    long a = prefixes[left];
    long b = prefixes[right];
    return a < b || (a == b && beforeTied(left, right));
  }

  private boolean beforeTied(int left, int right) {
    if (ended[left] || ended[right]) {
      return !ended[left] || (ended[right] && left < right);
    }
    if (order.decides(prefixes[left] ^ Long.MIN_VALUE)) {
      return left < right;
    }
    RecordCursor a = inputs[left];
    RecordCursor b = inputs[right];
    int tied = order.compareTied(a.data, a.offset, a.keyLength, b.data, b.offset, b.keyLength);
    return tied < 0 || (tied == 0 && left < right);
  }

  @Override
  public void close() throws IOException {
    for (RecordCursor input : inputs) {
      input.close();
    }
  }
}
