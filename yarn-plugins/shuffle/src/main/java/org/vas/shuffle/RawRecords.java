package org.vas.shuffle;

import java.util.Arrays;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;

/** Base of the iterators over serialised records: the current record and the progress. */
public abstract class RawRecords implements RawKeyValueIterator {
  private static final byte[] NOTHING = {};

  private final Progress progress = new Progress();
  private final DataInputBuffer key = new DataInputBuffer();
  private final DataInputBuffer value = new DataInputBuffer();

  /** Makes a record the current one; its value stands right after its key. */
  protected final void show(byte[] data, int offset, int keyLength, int valueLength) {
    key.reset(data, offset, keyLength);
    int start = offset + keyLength;
    // The old API's iterator of values adds the start to where the value ends.
    if (2L * start + valueLength > Integer.MAX_VALUE) {
      value.reset(Arrays.copyOfRange(data, start, start + valueLength), valueLength);
    } else {
      value.reset(data, start, valueLength);
    }
  }

  /** Leaves no record current, after the last one. */
  protected final void showNothing() {
    key.reset(NOTHING, 0);
    value.reset(NOTHING, 0);
    progress.set(1);
  }

  /** Reports that this share of the bytes was handed out. */
  protected final void progressed(long bytes, long all) {
    progress.set((float) bytes / all);
  }

  @Override
  public final DataInputBuffer getKey() {
    return key;
  }

  @Override
  public final DataInputBuffer getValue() {
    return value;
  }

  @Override
  public final Progress getProgress() {
    return progress;
  }
}
