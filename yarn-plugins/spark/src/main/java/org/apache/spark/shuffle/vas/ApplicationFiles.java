package org.apache.spark.shuffle.vas;

import static java.util.Objects.requireNonNull;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.ShuffleFiles;

/** The directory of one application's map output on Lustre, as its driver and executors use it. */
final class ApplicationFiles {
  private static final int BUFFER_BYTES = 256 << 10;

  // To read the site's configuration takes longer than a short task.
  private static ApplicationFiles ofThisProcess;

  private final ShuffleFiles files;
  private final Path directory;
  private final String named;
  private final IndexCache indexes;
  private final ShuffleCounters counters = new ShuffleCounters();

  ApplicationFiles(ShuffleFiles files, Path directory, String named, IndexCache indexes) {
    this.files = requireNonNull(files, "files");
    this.directory = requireNonNull(directory, "directory");
    this.named = requireNonNull(named, "named");
    this.indexes = requireNonNull(indexes, "indexes");
  }

  /**
   * Finds the application's directory in an executor; all of the process that ask get one object.
   *
   * @param told what the driver told its executors
   * @throws IllegalStateException if the driver did not name the directory, or it is of no use
   */
  static synchronized ApplicationFiles of(SparkConf conf, Map<String, String> told) {
    String named = told.get(VasSparkConf.APPLICATION);
    if (named == null) {
      throw new IllegalStateException("the driver named no directory for map output: it must have "
          + "spark.shuffle.manager=" + VasShuffleManager.class.getName() + " too");
    }
    if (ofThisProcess == null || !ofThisProcess.named.equals(named)) {
      ofThisProcess = find(conf, new Path(named));
      ofThisProcess.counters.publish();
    }
    return ofThisProcess;
  }

  private static ApplicationFiles find(SparkConf conf, Path directory) {
    try {
      return ShuffleStorage.at(directory.getParent().toString(),
          SparkHadoopUtil.get().newConfiguration(conf))
          .application(directory.getName(), conf.getSizeAsBytes(
              VasSparkConf.KEPT_INDEXES, VasSparkConf.KEPT_INDEXES_DEFAULT));
    } catch (IOException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /** Returns the indexes that this process keeps. */
  IndexCache indexes() {
    return indexes;
  }

  /** Returns what this process counts. */
  ShuffleCounters counters() {
    return counters;
  }

  /** Returns a tally of the work that this thread does now. */
  Tally tally() {
    return Tally.of(counters);
  }

  /** Returns the directory as any machine finds it: a path that all mount, or {@code lustre:///}. */
  String named() {
    return named;
  }

  /** Returns where the files of a shuffle are, for messages. */
  Path shuffle(int shuffle) {
    return new Path(directory, PredictableNames.sparkShuffle(shuffle));
  }

  /** Returns whether the directory can be seen from this machine. */
  boolean canBeSeen() {
    try {
      return files.isDirectoryItself(directory);
    } catch (IOException e) {
      return false;
    }
  }

  /** Makes a file of a shuffle for writing, and the shuffle's directory if it is not there. */
  FSDataOutputStream create(int shuffle, String name, Tally tally) throws IOException {
    Path file = new Path(shuffle(shuffle), name);
    tally.count(WorkKind.FILES);
    try {
      return files.createPrivate(file, BUFFER_BYTES);
    } catch (FileNotFoundException e) {
      files.makeDirectory(shuffle(shuffle));
      return files.createPrivate(file, BUFFER_BYTES);
    }
  }

  /** Opens a file of a shuffle for reading. */
  FSDataInputStream open(int shuffle, String name, Tally tally) throws IOException {
    tally.count(WorkKind.OPENS);
    return files.open(new Path(shuffle(shuffle), name), BUFFER_BYTES);
  }

  /** Returns the length in bytes of each file of a shuffle, by its name. */
  Map<String, Long> lengths(int shuffle) throws IOException {
    Map<String, Long> lengths = new HashMap<>();
    for (FileStatus each : files.listStatus(shuffle(shuffle))) {
      lengths.put(each.getPath().getName(), each.getLen());
    }
    return lengths;
  }

  /**
   * Returns whether a map output has an index, and data of the length that the index says.
   *
   * @param lengths what {@link #lengths} has returned
   * @throws IOException if that cannot be told
   */
  boolean isWhole(int shuffle, long task, Map<String, Long> lengths) throws IOException {
    String index = PredictableNames.sparkIndex(task);
    if (!lengths.containsKey(index)) {
      return false;
    }
    byte[] header = new byte[MapIndex.HEADER];
    try (FSDataInputStream in = open(shuffle, index, tally())) {
      in.readFully(0, header);
      return MapIndex.header(header, shuffle, task).dataBytes()
          == lengths.getOrDefault(PredictableNames.sparkData(task), 0L);
    } catch (EOFException | BadIndexException e) {
      return false;
    }
  }

  /** Gives a file of a shuffle another name, by which others find it. */
  void publish(int shuffle, String from, String to) throws IOException {
    Path unpublished = new Path(shuffle(shuffle), from);
    if (!files.rename(unpublished, new Path(shuffle(shuffle), to))) {
      throw new IOException(unpublished + ": cannot be renamed to " + to);
    }
  }

  /** Removes a file of a shuffle; one that is not there is removed. */
  void remove(int shuffle, String name) throws IOException {
    files.delete(new Path(shuffle(shuffle), name), false);
  }

  /** Removes all files of a shuffle. */
  void removeShuffle(int shuffle) throws IOException {
    files.delete(shuffle(shuffle), true);
  }

  /**
   * Removes all files of the application. Its directory gets another name first, so that a task
   * that still runs can make nothing in it.
   */
  void removeAll() throws IOException {
    Path ended = directory.suffix("-0");
    if (files.isDirectoryItself(directory)) {
      files.rename(directory, ended);
    }
    files.delete(ended, true);
  }
}
