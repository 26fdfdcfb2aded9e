package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import org.vas.shuffle.RawRecords;

/** The records of a merge in the caller's thread, without a copy. */
public final class MergedRecords extends RawRecords {
  private static final int PROGRESS_EVERY = 4096;

  private final Merge merge;
  private final Conservation conservation;
  private long records;
  private long rawBytes;

  public MergedRecords(Merge merge, Conservation conservation) {
    this.merge = requireNonNull(merge, "merge");
    this.conservation = requireNonNull(conservation, "conservation");
  }

  @Override
  public boolean next() throws IOException {
    if (!merge.next()) {
      conservation.check(records, rawBytes);
      showNothing();
      return false;
    }
    int keyLength = merge.keyLength();
    int valueLength = merge.valueLength();
    show(merge.data(), merge.offset(), keyLength, valueLength);
    rawBytes += RawSize.of(keyLength, valueLength);
    if (++records % PROGRESS_EVERY == 0) {
      progressed(rawBytes, conservation.rawBytes());
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    merge.close();
  }
}
