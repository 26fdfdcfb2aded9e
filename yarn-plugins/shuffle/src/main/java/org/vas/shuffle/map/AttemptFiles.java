package org.vas.shuffle.map;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.vas.shuffle.ShuffleConf;
import org.vas.shuffle.mof.ShuffleDirs;
import org.vas.shuffle.mof.ShuffleFiles;

/** The directory of one map attempt, and the files that the attempt makes in it. */
class AttemptFiles {
  private static final int BUFFER_BYTES = 256 << 10;

  private final ShuffleFiles fs;
  private final Path directory;

  AttemptFiles(ShuffleFiles fs, Path directory) {
    this.fs = fs;
    this.directory = directory;
  }

  /**
   * Makes the directory of the attempt.
   *
   * @throws FileAlreadyExistsException if it is there: another process uses this attempt's name
   * @throws FileNotFoundException if the job's staging directory is gone
   */
  void make(ShuffleDirs dirs) throws IOException {
    if (fs.exists(directory)) {
      throw new FileAlreadyExistsException(directory
          + ": another process has worked, or works, under this attempt's name");
    }
    try {
      fs.makeDirectory(dirs.root());
      fs.makeDirectory(directory);
    } catch (FileNotFoundException e) {
      throw (IOException) new FileNotFoundException(dirs.jobDir()
          + ": the job's staging directory is gone; the job has ended, or somebody removed it")
          .initCause(e);
    }
  }

  /**
   * Returns how the files are laid out.
   *
   * @throws IOException if the configured layout is not one of those that exist
   */
  MofPolicy policy(JobConf job) throws IOException {
    return MofPolicy.of(job);
  }

  /** Returns how many sorted runs the attempt may leave to reducers. */
  int mostRuns(JobConf job) {
    return ShuffleConf.MAX_RUNS.get(job);
  }

  /** Returns the file system that merges read from. */
  ShuffleFiles fileSystem() {
    return fs;
  }

  /**
   * Makes a file in the directory and opens it for writing; fails if a file has that name.
   *
   * @param leastBytes bytes that will be in it, at least
   */
  FSDataOutputStream create(String name, long leastBytes) throws IOException {
    return create(name);
  }

  /** Makes a file of few bytes and opens it for writing; fails if a file has that name. */
  final FSDataOutputStream create(String name) throws IOException {
    return fs.createPrivate(path(name), BUFFER_BYTES);
  }

  FSDataOutputStream append(String name) throws IOException {
    return fs.append(path(name), BUFFER_BYTES);
  }

  void rename(String from, String to) throws IOException {
    if (!fs.rename(path(from), path(to))) {
      throw new IOException(path(from) + ": cannot be renamed to " + to);
    }
  }

  void delete(String name) throws IOException {
    if (!fs.delete(path(name), false)) {
      throw new IOException(path(name) + ": cannot be deleted");
    }
  }

  Path path(String name) {
    return new Path(directory, name);
  }
}
