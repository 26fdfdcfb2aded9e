package org.vas.shuffle.reduce;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentWriter;

/**
 * Computes REDUCE_SHUFFLE_BYTES of one map: what stock fetches, without encryption's header. Stock
 * has one segment for each map, an empty one too. Several compressed runs count as they are.
 */
final class StockBytes {
  private static final int END_MARKER = 2;

  private final boolean compressed;
  private final long padding;
  private final long empty;

  StockBytes(JobConf job) throws IOException {
    this.compressed = job.getCompressMapOutput();
    this.padding = CryptoUtils.cryptoPadding(job);
    this.empty = new SegmentWriter(job).emptyBytes() - padding;
  }

  long of(FetchedOutput output) {
    if (output.segments().isEmpty()) {
      return empty;
    }
    long bytes = compressed ? 0 : empty;
    for (SegmentFile each : output.segments()) {
      bytes += compressed ? each.segment().storedBytes() - padding
          : each.segment().rawBytes() - END_MARKER;
    }
    return bytes;
  }
}
