package org.vas.shuffle.merge;

import java.io.IOException;
import java.util.List;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

/** Checks that reduce() gets what the maps published, to the record and the byte. */
public class Conservation {
  private final long records;
  private final long rawBytes;

  Conservation(long records, long rawBytes) {
    this.records = records;
    this.rawBytes = rawBytes;
  }

  /**
   * Returns the check for these segments: the records and bytes that they must yield by their
   * manifests, or the bytes alone where a segment's records are not counted.
   */
  public static Conservation of(List<SegmentFile> segments) {
    long records = 0;
    long bytes = 0;
    for (SegmentFile each : segments) {
      long here = each.segment().records();
      boolean counted = records != Segment.UNCOUNTED && here != Segment.UNCOUNTED;
      records = counted ? records + here : Segment.UNCOUNTED;
      bytes += each.segment().rawBytes() - RawSize.END_MARKER;
    }
    return new Conservation(records, bytes);
  }

  /** Returns the number of bytes of all records as IFile has them. */
  public long rawBytes() {
    return rawBytes;
  }

  /**
   * Compares what reduce() got with what the maps published.
   *
   * @param gotBytes bytes of the records, as IFile has them
   * @throws IOException that names both, if records or bytes differ
   */
  void check(long gotRecords, long gotBytes) throws IOException {
    if ((records != Segment.UNCOUNTED && gotRecords != records) || gotBytes != rawBytes) {
      throw new IOException("reduce() got " + gotRecords + " records in " + gotBytes
          + " bytes, but the maps published " + records + " in " + rawBytes);
    }
  }
}
