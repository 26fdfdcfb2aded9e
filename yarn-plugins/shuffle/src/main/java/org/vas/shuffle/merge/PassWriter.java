package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.MofOutput;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.mof.ShuffleFiles;

/**
 * Writes merged records as a segment of their own, compressed and encrypted as the job says. Its
 * files are removed at the end of the process at the latest: Hadoop closes a reduce attempt's merge
 * after success only.
 */
public final class PassWriter {
  private static final Logger LOG = LoggerFactory.getLogger(PassWriter.class);
  private static final int PROGRESS_EVERY = 4096;
  private static final int BUFFER_BYTES = 256 << 10;
  // Before Hadoop closes its file systems.
  private static final int HOOK_PRIORITY = FileSystem.SHUTDOWN_HOOK_PRIORITY + 10;

  private final ShuffleFiles fs;
  private final Path directory;
  private final SegmentWriter writer;
  private final long memory;
  private final Progressable alive;
  private final Runnable atExit = this::discardAtExit;
  private final Set<Path> present = new LinkedHashSet<>();
  private boolean ended;
  private int written;

  /** Makes a writer into the directory of this attempt alone, which the first pass makes. */
  public PassWriter(ShuffleFiles fs, Path directory, JobConf job, Progressable alive) {
    this.fs = requireNonNull(fs, "fs");
    this.directory = requireNonNull(directory, "directory");
    this.writer = new SegmentWriter(job);
    this.memory = SegmentOpener.encodeBytes(job, SegmentWriter.codec(job));
    this.alive = requireNonNull(alive, "alive");
  }

  /** Returns the number of bytes of memory that writing takes. */
  long memory() {
    return memory;
  }

  /** Writes all records of a merge to a new segment, and closes the merge in any case. */
  SegmentFile write(Merge merge, int partition) throws IOException {
    try (merge) {
      int run = written++;
      if (run == 0) {
        ShutdownHookManager.get().addShutdownHook(atExit, HOOK_PRIORITY);
        fs.makeDirectory(directory);
      }
      Path file = new Path(directory, PredictableNames.pass(run));
      try (MofOutput mof = new MofOutput(file.getName(), 0, create(file))) {
        writer.open(mof);
        copy(merge);
        return new SegmentFile(file, writer.close(partition, run));
      }
    }
  }

  // A job that is over has no staging directory, and must not get one again.
  private synchronized FSDataOutputStream create(Path file) throws IOException {
    if (ended) {
      throw new IOException(file + ": not written, because the task is ending");
    }
    present.add(file);
    return fs.createPrivate(file, BUFFER_BYTES);
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

  /**
   * Removes the file of a segment if this writer wrote it; a map's segment stays.
   * @throws IOException if the file cannot be deleted
   */
  synchronized void discard(SegmentFile segment) throws IOException {
    if (present.remove(segment.file()) && !fs.delete(segment.file(), false)) {
      throw new IOException(segment.file() + ": cannot be deleted");
    }
  }

  /**
   * Removes all files that this writer still has; afterwards it writes nothing more.
   * @throws IOException the first error, after all files were tried
   */
  public void discardAll() throws IOException {
    discardFiles();
    ShutdownHookManager hooks = ShutdownHookManager.get();
    if (!hooks.isShutdownInProgress()) {
      hooks.removeShutdownHook(atExit);
    }
  }

  private synchronized void discardFiles() throws IOException {
    ended = true;
    List<Path> left = new ArrayList<>(present);
    if (written > 0) {
      left.add(directory);
    }
    present.clear();
    written = 0;
    IOException first = null;
    for (Path path : left) {
      try {
        fs.delete(path, false);
      } catch (IOException e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }

  private void discardAtExit() {
    try {
      discardFiles();
    } catch (IOException e) {
      LOG.warn("Cannot remove passes; the next attempt, or the job's end, will", e);
    }
  }
}
