package org.vas.shuffle.reduce;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.vas.shuffle.mof.JobFormat;
import org.vas.shuffle.mof.ManifestReader;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentReader;
import org.vas.shuffle.mof.ShuffleDirs;

/** Looks at one map attempt's output for one reducer. */
final class Validator {
  private final FileSystem fs;
  private final ShuffleDirs dirs;
  private final ManifestReader manifests;
  private final int partition;
  private final int verifyBytes;
  private final ReadMeter meter;

  /** @param verifyBytes of a read when every checksum is to be verified; 0 if they are not */
  Validator(FileSystem fs, ShuffleDirs dirs, JobFormat format, int partition, int verifyBytes,
      ReadMeter meter) {
    this.fs = requireNonNull(fs, "fs");
    this.dirs = requireNonNull(dirs, "dirs");
    this.manifests = new ManifestReader(fs, dirs, format);
    this.partition = partition;
    this.verifyBytes = verifyBytes;
    this.meter = requireNonNull(meter, "meter");
  }

  /** Looks, and never throws. */
  Verdict look(TaskAttemptID attempt) {
    try {
      List<SegmentFile> segments = manifests.segments(attempt, partition);
      if (verifyBytes > 0) {
        for (SegmentFile each : segments) {
          verify(each);
        }
      }
      return Verdict.intact(attempt, new MapOutput(segments));
    } catch (Throwable e) { // an Error too has to reach the one who waits
      return diagnosed(attempt, e);
    }
  }

  // When the mount is gone, every file is "not found".
  private Verdict diagnosed(TaskAttemptID attempt, Throwable error) {
    Diagnosis diagnosis = Diagnosis.of(error);
    if (diagnosis == Diagnosis.BAD_MAP) {
      try {
        fs.listStatus(dirs.jobDir());
      } catch (IOException e) {
        e.addSuppressed(error);
        return Verdict.failed(attempt, Diagnosis.SICK_FILE_SYSTEM,
            new IOException(dirs.jobDir() + ": cannot be listed: " + e.getMessage(), e));
      }
    }
    return Verdict.failed(attempt, diagnosis, error);
  }

  private void verify(SegmentFile source) throws IOException {
    byte[] buffer = new byte[(int) Math.min(verifyBytes, source.segment().storedBytes())];
    try (SegmentReader reader = new SegmentReader(fs, source, meter)) {
      int count = buffer.length;
      while (count > 0) {
        count = reader.read(buffer);
      }
    }
  }
}
