package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.util.Progressable;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.MofOutput;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.mof.ShuffleFiles;

/** Writes merged records as a segment of their own, compressed and encrypted as the job says. */
public final class PassWriter {
  private static final int PROGRESS_EVERY = 4096;
  private static final int BUFFER_BYTES = 256 << 10;

  private final ShuffleFiles fs;
  private final Path directory;
  private final SegmentWriter writer;
  private final long memory;
  private final Progressable alive;
  private final Set<Path> present = new LinkedHashSet<>();
  private int written;

  /** Writes into the directory of this attempt alone, which the first pass makes. */
  public PassWriter(ShuffleFiles fs, Path directory, JobConf job, Progressable alive) {
    this.fs = requireNonNull(fs, "fs");
    this.directory = requireNonNull(directory, "directory");
    this.writer = new SegmentWriter(job);
    this.memory = SegmentOpener.encodeBytes(job, SegmentWriter.codec(job));
    this.alive = requireNonNull(alive, "alive");
  }

  /** Bytes that writing takes. */
  long memory() {
    return memory;
  }

  /** Writes all that the merge has; it is closed in any case. */
  SegmentFile write(Merge merge, int partition) throws IOException {
    try (merge) {
      if (written == 0) {
        fs.makeDirectory(directory);
      }
      int run = written++;
      Path file = new Path(directory, PredictableNames.pass(run));
      try (MofOutput mof = new MofOutput(file.getName(), 0, create(file))) {
        writer.open(mof);
        copy(merge);
        return new SegmentFile(file, writer.close(partition, run));
      }
    }
  }

  // A job that is over has no staging directory, and must not get one again.
  private FSDataOutputStream create(Path file) throws IOException {
    FSDataOutputStream out = fs.createPrivate(file, BUFFER_BYTES);
    present.add(file);
    return out;
  }

  private void copy(Merge merge) throws IOException {
    long count = 0;
    while (merge.next()) {
      byte[] data = merge.data();
      int key = merge.offset();
      writer.append(data, key, merge.keyLength(), data, key + merge.keyLength(),
          merge.valueLength());
      if (++count % PROGRESS_EVERY == 0) {
        alive.progress();
      }
    }
  }

  /** Removes it, if it is one of ours and not a map's. */
  void discard(SegmentFile segment) throws IOException {
    if (present.remove(segment.file()) && !fs.delete(segment.file(), false)) {
      throw new IOException(segment.file() + ": cannot be deleted");
    }
  }

  /** Removes all that is left. */
  public void discardAll() throws IOException {
    for (Path file : present) {
      fs.delete(file, false);
    }
    if (written > 0) {
      fs.delete(directory, false);
    }
    present.clear();
  }
}
