package org.vas.shuffle.reduce;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.vas.shuffle.mof.CallWatch;
import org.vas.shuffle.mof.JobFormat;
import org.vas.shuffle.mof.ManifestReader;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentReader;
import org.vas.shuffle.mof.ShuffleDirs;

/**
 * Looks at one map attempt's output for one reducer: whether its manifest is whole, and its MOFs
 * are there and right at both ends of each segment.
 */
final class Validator {
  // A segment with no more bytes is read whole by looking at its ends.
  private static final int SMALL = 2 * Segment.CHECKSUM_BYTES;

  private final FileSystem fs;
  private final ShuffleDirs dirs;
  private final ManifestReader manifests;
  private final int partition;
  private final int verifyBytes;
  private final AtomicLong toHold;
  private final ReadMeter meter;

  /**
   * Makes a validator for the outputs of one job's maps and one reducer.
   * @param verifyBytes bytes of one read where every checksum is to be verified; 0 to verify only
   *     the checksums at both ends of a segment
   * @param toHold bytes that may be held for the merge: descriptions of segments, and small
   *     segments with what is left; others are read again
   * @param toLook bytes that one look may take besides: half for a part of a manifest, half for a
   *     read
   */
  Validator(FileSystem fs, ShuffleDirs dirs, JobFormat format, int partition, int verifyBytes,
      long toHold, long toLook, ReadMeter meter) {
    this.fs = requireNonNull(fs, "fs");
    this.dirs = requireNonNull(dirs, "dirs");
    this.manifests = new ManifestReader(fs, dirs, format, toLook / 2);
    this.partition = partition;
    this.verifyBytes = wholeBlocks(Math.min(verifyBytes, toLook / 2));
    this.toHold = new AtomicLong(toHold);
    this.meter = requireNonNull(meter, "meter");
  }

  private static int wholeBlocks(long bytes) {
    return (int) (bytes / Segment.CHECKSUM_BYTES) * Segment.CHECKSUM_BYTES;
  }

  /** Looks at one attempt's output; returns what is wrong instead of throwing it. */
  OutputFinding look(TaskAttemptID attempt, CallWatch watch) {
    try {
      List<SegmentFile> found = manifests.segments(attempt, partition, watch);
      toHold.addAndGet(-SegmentFile.memory(found));
      List<SegmentFile> segments = new ArrayList<>();
      for (SegmentFile each : found) {
        segments.add(verified(each, watch));
      }
      return OutputFinding.intact(attempt, new FetchedOutput(segments));
    } catch (Throwable e) { // an Error too has to reach the one who waits
      return diagnosed(attempt, e, watch);
    }
  }

  // When the mount is gone, every file is "not found". One with an OST that is away is there.
  private OutputFinding diagnosed(TaskAttemptID attempt, Throwable error, CallWatch watch) {
    OutputDiagnosis diagnosis = OutputDiagnosis.of(error);
    if (diagnosis != OutputDiagnosis.SICK_FILE_SYSTEM) {
      try {
        watch.calling(dirs.jobDir());
        fs.listStatus(dirs.jobDir());
      } catch (Throwable e) {
        if (OutputDiagnosis.of(e) == OutputDiagnosis.ONE_OST
            && !OutputDiagnosis.osts(e).isEmpty()) {
          return OutputFinding.failed(attempt, diagnosis, error);
        }
        e.addSuppressed(error);
        return OutputFinding.failed(attempt, OutputDiagnosis.SICK_FILE_SYSTEM,
            new IOException(dirs.jobDir() + ": cannot be listed: " + e.getMessage(), e));
      }
    }
    return OutputFinding.failed(attempt, diagnosis, error);
  }

  private SegmentFile verified(SegmentFile source, CallWatch watch) throws IOException {
    long stored = source.segment().storedBytes();
    try (SegmentReader reader = new SegmentReader(fs, source, meter)) {
      if (stored <= SMALL && mayHold(stored)) {
        byte[] all = new byte[(int) stored];
        reader.read(all, watch);
        return source.holding(all);
      }
      meter.again(verifyBytes > 0 ? readAll(reader, stored, watch) : reader.readEnds(watch));
      return source;
    }
  }

  private boolean mayHold(long bytes) {
    return toHold.getAndUpdate(left -> left >= bytes ? left - bytes : left) >= bytes;
  }

  private long readAll(SegmentReader reader, long stored, CallWatch watch) throws IOException {
    byte[] buffer = new byte[(int) Math.min(verifyBytes, stored)];
    int count = buffer.length;
    while (count > 0) {
      count = reader.read(buffer, watch);
    }
    return stored;
  }
}
