package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;

/** The records of a merge in the caller's thread, without a copy. */
public final class MergedRecords implements RawKeyValueIterator {
  private static final int PROGRESS_EVERY = 4096;

  private final Merge merge;
  private final Conservation conservation;
  private final Progress progress = new Progress();
  private final DataInputBuffer key = new DataInputBuffer();
  private final DataInputBuffer value = new DataInputBuffer();
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
      Ended.set(key, value, progress);
      return false;
    }
    int keyLength = merge.keyLength();
    int valueLength = merge.valueLength();
    key.reset(merge.data(), merge.offset(), keyLength);
    value.reset(merge.data(), merge.offset() + keyLength, valueLength);
    rawBytes += RawSize.of(keyLength, valueLength);
    if (++records % PROGRESS_EVERY == 0) {
      progress.set((float) rawBytes / conservation.rawBytes());
    }
    return true;
  }

  @Override
  public DataInputBuffer getKey() {
    return key;
  }

  @Override
  public DataInputBuffer getValue() {
    return value;
  }

  @Override
  public Progress getProgress() {
    return progress;
  }

  @Override
  public void close() throws IOException {
    merge.close();
  }
}
