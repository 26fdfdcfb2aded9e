package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import org.vas.shuffle.RawRecords;

/** The records of a merge in the caller's thread, without a copy, and checked to be in order. */
public final class MergedRecords extends RawRecords {
  private static final int PROGRESS_EVERY = 4096;

  private final Merge merge;
  private final Conservation conservation;
  private final OrderCheck order;
  private long records;
  private long rawBytes;
  private DisorderException disorder;

  /**
   * Iterates over the records of a merge, and closes the merge with this.
   *
   * @param order sees each record first
   */
  public MergedRecords(Merge merge, Conservation conservation, OrderCheck order) {
    this.merge = requireNonNull(merge, "merge");
    this.conservation = requireNonNull(conservation, "conservation");
    this.order = requireNonNull(order, "order");
  }

  @Override
  public boolean next() throws IOException {
    if (disorder != null) {
      throw disorder; // to whoever hides it and asks for more
    }
    if (!merge.next()) {
      conservation.check(records, rawBytes);
      showNothing();
      return false;
    }
    int keyLength = merge.keyLength();
    int valueLength = merge.valueLength();
    checkOrder(keyLength);
    show(merge.data(), merge.offset(), keyLength, valueLength);
    rawBytes += RawSize.of(keyLength, valueLength);
    if (++records % PROGRESS_EVERY == 0) {
      progressed(rawBytes, conservation.rawBytes());
    }
    return true;
  }

  private void checkOrder(int keyLength) throws DisorderException {
    try {
      order.check(merge.data(), merge.offset(), keyLength);
    } catch (DisorderException e) {
      disorder = e;
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    merge.close();
  }
}
