package org.vas.shuffle.mof;

import static java.util.Objects.requireNonNull;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.TaskAttemptID;

/** Reads what one map attempt published for one partition, and says whether it is intact. */
public final class ManifestReader {
  private static final int LARGEST = 1 << 30;
  private static final int IFILE_CHECKSUM = 4;

  private final FileSystem fs;
  private final ShuffleDirs dirs;
  private final JobFormat format;

  public ManifestReader(FileSystem fs, ShuffleDirs dirs, JobFormat format) {
    this.fs = requireNonNull(fs, "fs");
    this.dirs = requireNonNull(dirs, "dirs");
    this.format = requireNonNull(format, "format");
  }

  /**
   * The segments of one partition, in order of runs. The manifest is whole and this job's, and
   * every MOF that holds one of them is as long as it says; their checksums were not looked at.
   *
   * @throws BadOutputException if not: the map has to run again
   */
  public List<SegmentFile> segments(TaskAttemptID attempt, int partition) throws IOException {
    Manifest manifest = manifest(attempt);
    List<SegmentFile> found = new ArrayList<>();
    BitSet checked = new BitSet();
    for (Segment segment : manifest.segments(partition)) {
      MofFile mof = manifest.files().get(segment.file());
      Path file = new Path(dirs.attempt(attempt), mof.name());
      if (!checked.get(segment.file())) {
        checkLength(file, mof.length());
        checked.set(segment.file());
      }
      checkSizes(file, segment);
      found.add(new SegmentFile(file, segment));
    }
    return found;
  }

  /** What the attempt published. */
  public Manifest manifest(TaskAttemptID attempt) throws IOException {
    Path file = dirs.manifest(attempt);
    try {
      Manifest manifest = ManifestFormat.decode(bytes(file));
      format.check(attempt, manifest);
      return manifest;
    } catch (ManifestException e) {
      throw new BadOutputException(file + ": " + e.getMessage(), e);
    }
  }

  private byte[] bytes(Path file) throws IOException {
    try (FSDataInputStream in = fs.open(file)) {
      return in.readNBytes(LARGEST);
    } catch (FileNotFoundException e) {
      FileNotFoundException explained = new FileNotFoundException(e.getMessage()
          + "; the map succeeded without a manifest. Has the job another map output collector, or"
          + " a list of them?");
      explained.initCause(e);
      throw explained;
    }
  }

  private void checkLength(Path file, long length) throws IOException {
    long found = fs.getFileStatus(file).getLen();
    if (found != length) {
      throw new BadOutputException(
          file + ": " + found + " bytes, but " + length + " were published");
    }
  }

  private void checkSizes(Path file, Segment segment) throws BadOutputException {
    if (format.plain() && segment.storedBytes() != segment.rawBytes() + IFILE_CHECKSUM) {
      throw new BadOutputException(file + ": " + segment.storedBytes() + " stored bytes cannot be "
          + segment.rawBytes() + " plain ones");
    }
  }
}
