package org.vas.shuffle.mof;

import static java.util.Objects.requireNonNull;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.TaskAttemptID;

/** Reads what one map attempt published for one partition, and says whether it is intact. */
public final class ManifestReader {
  private static final int IFILE_CHECKSUM = 4;

  private final FileSystem fs;
  private final ShuffleDirs dirs;
  private final JobFormat format;
  private final long memory;

  /**
   * Makes a reader for the manifests of one job.
   * @param memory most bytes that the decoded parts of one manifest may take
   */
  public ManifestReader(FileSystem fs, ShuffleDirs dirs, JobFormat format, long memory) {
    this.fs = requireNonNull(fs, "fs");
    this.dirs = requireNonNull(dirs, "dirs");
    this.format = requireNonNull(format, "format");
    this.memory = memory;
  }

  /**
   * Returns the segments of one partition, in order of runs. Checks that what the manifest says of
   * the partition is whole and this job's; reads no MOF.
   *
   * @throws BadOutputException if it is not: the map has to run again
   * @throws FileNotFoundException if there is no manifest
   * @throws ManifestTooLargeException if the partition's part needs more memory than there is
   */
  public List<SegmentFile> segments(TaskAttemptID attempt, int partition, CallWatch watch)
      throws IOException {
    Manifest manifest = manifest(attempt, partition, watch);
    List<SegmentFile> found = new ArrayList<>();
    Map<Integer, SegmentFile> known = new HashMap<>();
    for (Segment segment : manifest.segments()) {
      SegmentFile first = known.get(segment.file());
      SegmentFile next = first == null ? located(attempt, manifest, segment, watch)
          : alike(first, segment);
      known.putIfAbsent(segment.file(), next);
      found.add(next);
    }
    return found;
  }

  private SegmentFile alike(SegmentFile first, Segment segment) throws BadOutputException {
    checkSizes(first.file(), segment);
    return new SegmentFile(first.file(), segment, first.server());
  }

  private SegmentFile located(TaskAttemptID attempt, Manifest manifest, Segment segment,
      CallWatch watch) throws IOException {
    MofFile mof = manifest.files().get(segment.file());
    Path file = new Path(dirs.attempt(attempt), mof.name());
    checkSizes(file, segment);
    watch.calling(file);
    return new SegmentFile(file, segment, server(asPublished(file, mof), segment.offset(),
        manifest.host()));
  }

  private Manifest manifest(TaskAttemptID attempt, int partition, CallWatch watch)
      throws IOException {
    Path file = dirs.manifest(attempt);
    try {
      Manifest manifest = read(file, partition, watch);
      format.check(attempt, manifest);
      return manifest;
    } catch (ManifestException e) {
      throw new BadOutputException(file + ": " + e.getMessage(), e);
    } catch (ManifestTooLargeException e) {
      throw new ManifestTooLargeException(file + ": " + e.getMessage());
    }
  }

  private Manifest read(Path file, int partition, CallWatch watch) throws IOException {
    watch.calling(file);
    try (FSDataInputStream in = fs.open(file)) {
      return new PartitionRead(in, file, watch, memory).manifest(format.partitions(), partition);
    } catch (FileNotFoundException e) {
      FileNotFoundException explained = new FileNotFoundException(e.getMessage()
          + "; the map succeeded without a manifest. Has the job another map output collector, or"
          + " a list of them?");
      explained.initCause(e);
      throw explained;
    }
  }

  // To ask for the length costs a request to each OST of the file. One that is shorter than it was
  // shows when the end of a segment is read.
  private static FileStatus asPublished(Path file, MofFile mof) {
    return new FileStatus(mof.length(), false, 1, 1, 0, file);
  }

  // The OST, where the file system knows it; else the VM of its server; else the map's machine, on
  // one of whose OSTs the map wrote.
  private String server(FileStatus file, long offset, String mapHost) throws IOException {
    BlockLocation[] blocks = fs.getFileBlockLocations(file, offset, 1);
    if (blocks == null || blocks.length == 0) {
      return mapHost;
    }
    if (blocks[0].getStorageIds().length > 0) {
      return blocks[0].getStorageIds()[0];
    }
    String[] hosts = blocks[0].getHosts();
    return hosts.length == 0 || hosts[0].equals("localhost") ? mapHost : hosts[0];
  }

  private void checkSizes(Path file, Segment segment) throws BadOutputException {
    if (format.plain() && segment.storedBytes() != segment.rawBytes() + IFILE_CHECKSUM) {
      throw new BadOutputException(file + ": " + segment.storedBytes() + " stored bytes cannot be "
          + segment.rawBytes() + " plain ones");
    }
  }
}
