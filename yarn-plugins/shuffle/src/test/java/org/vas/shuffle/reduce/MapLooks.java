package org.vas.shuffle.reduce;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.vas.shuffle.mof.JobFormat;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentReader;
import org.vas.shuffle.mof.ShuffleDirs;

/** Looks at one map's output as a reduce attempt does, by the product's own code. */
public final class MapLooks {
  private static final int VERIFY = 64 << 10;
  private static final int END = 2;
  private static final int CHECKSUM = 4;

  private MapLooks() {}

  /** Thrown when the map has to run again. */
  public static final class BadMap extends IOException {
    private static final long serialVersionUID = 1L;

    BadMap(Throwable cause) {
      super(cause);
    }
  }

  /**
   * The keys of one partition.
   *
   * @throws BadMap if the output is not intact, or on an OST that is away
   */
  public static List<String> keys(JobConf job, FileSystem fs, TaskAttemptID map, int partition)
      throws IOException {
    ShuffleDirs dirs = new ShuffleDirs(job);
    OutputFinding finding = new Validator(fs, dirs, JobFormat.of(job), partition, VERIFY, 1 << 20,
        1 << 20, ReadMeter.NONE).look(map, file -> {});
    if (finding.output() == null) {
      throw told(finding);
    }
    List<String> keys = new ArrayList<>();
    for (SegmentFile each : finding.output().segments()) {
      byte[] stored = each.held().isPresent() ? each.held().get() : read(fs, each);
      keys.addAll(decoded(stored, 0));
    }
    return keys;
  }

  private static IOException told(OutputFinding finding) {
    if (finding.error() instanceof Error) {
      throw (Error) finding.error();
    }
    return finding.diagnosis() == OutputDiagnosis.SICK_FILE_SYSTEM
        ? new IOException(finding.error()) : new BadMap(finding.error());
  }

  private static byte[] read(FileSystem fs, SegmentFile file) throws IOException {
    byte[] stored = new byte[(int) file.segment().storedBytes()];
    try (SegmentReader reader = new SegmentReader(fs, file, ReadMeter.NONE)) {
      reader.read(stored, watched -> {});
    }
    return stored;
  }

  /** As a reader would have it that looks at no manifest and at no checksum. */
  public static List<String> unchecked(
      JobConf job, FileSystem fs, TaskAttemptID map, int partition) throws IOException {
    Path file = new Path(new ShuffleDirs(job).attempt(map), ShuffleDirs.PACKED);
    try (FSDataInputStream in = fs.open(file)) {
      return decoded(in.readAllBytes(), partition);
    }
  }

  // Lengths of one byte each, no values, and in each segment an end and a checksum.
  private static List<String> decoded(byte[] stored, int segment) {
    List<String> keys = new ArrayList<>();
    int at = 0;
    int passed = 0;
    while (at < stored.length && passed <= segment) {
      int length = stored[at];
      if (length < 0) {
        at += END + CHECKSUM;
        passed++;
      } else {
        int end = Math.min(stored.length, at + 2 + length);
        if (passed == segment && at + 2 <= end) {
          keys.add(new String(stored, at + 2, end - at - 2, StandardCharsets.UTF_8));
        }
        at += 2 + length;
      }
    }
    return keys;
  }
}
