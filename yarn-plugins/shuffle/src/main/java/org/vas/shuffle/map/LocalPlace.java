package org.vas.shuffle.map;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.mof.MofFile;
import org.vas.shuffle.mof.MofOutput;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.mof.ShuffleFiles;

/**
 * Publishes map output on the node's disk: makes the one run of a map attempt its file.out, adds an
 * empty segment for each empty partition, as stock has, renames the file on its disk, and writes
 * the index next to it, last of all.
 */
final class LocalPlace implements OutputPlace {
  private static final Logger LOG = LoggerFactory.getLogger(LocalPlace.class);
  // Stock's, of which the NodeManager's group reads.
  private static final FsPermission READABLE = new FsPermission((short) 0640);
  private static final int END_MARKER = 2;
  private static final String NO_RECORDS = "no-records";

  private final JobConf job;
  private final MapTask task;
  private final TaskReporter reporter;
  private final MapOutputFile names;
  private final SegmentWriter writer;
  private final LocalFiles files;
  private boolean published;

  LocalPlace(MapOutputCollector.Context context, SegmentWriter writer) throws IOException {
    this.job = context.getJobConf();
    this.task = context.getMapTask();
    this.reporter = context.getReporter();
    this.names = task.getMapOutputFile();
    this.writer = writer;
    this.files = new LocalFiles(new ShuffleFiles(FileSystem.getLocal(job), operation -> {}), names);
  }

  @Override
  public TaskAttemptID attempt() {
    return task.getTaskID();
  }

  @Override
  public AttemptFiles files() {
    return files;
  }

  /** Does nothing: Hadoop makes the directories of the files that it names. */
  @Override
  public void makeDirectory() {}

  @Override
  public void publish(Runs runs, Ledger ledger) throws IOException {
    List<Segment> segments = runs.segments();
    ledger.check(segments);
    String name = file(runs.files());
    SpillRecord index = index(segments, name);
    Path run = files.path(name);
    Path output = names.getOutputFileForWriteInVolume(run);
    files.fileSystem().mkdirs(output.getParent());
    if (!files.fileSystem().rename(run, output)) {
      throw new IOException(run + ": cannot be renamed to " + output);
    }
    files.fileSystem().setPermission(output, READABLE);
    index.writeToFile(names.getOutputIndexFileForWriteInVolume(run), job);
    published = true;
    LOG.info("Wrote {}", output);
    reporter.getCounter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES)
        .increment(files.fileSystem().getFileStatus(output).getLen());
    reporter.getCounter(TaskCounter.SPILLED_RECORDS).increment(runs.spilledRecords());
    task.getSortPhase().complete();
  }

  /** Returns the file of the one run; makes one where the map emitted nothing. */
  private String file(List<MofFile> written) throws IOException {
    if (written.size() > 1) {
      throw new IOException(written.size() + " files are left of the runs instead of one");
    }
    if (!written.isEmpty()) {
      return written.get(0).name();
    }
    files.create(NO_RECORDS, 1).close();
    return NO_RECORDS;
  }

  private SpillRecord index(List<Segment> segments, String name) throws IOException {
    Map<Integer, Segment> present = new HashMap<>();
    segments.forEach(each -> present.put(each.partition(), each));
    int padding = CryptoUtils.cryptoPadding(job);
    SpillRecord index = new SpillRecord(job.getNumReduceTasks());
    try (MofOutput end = new MofOutput(name, 0, files.append(name))) {
      for (int partition = 0; partition < job.getNumReduceTasks(); partition++) {
        Segment segment = present.get(partition);
        long start = segment == null ? end.position() : segment.offset();
        long stored = segment == null ? writer.empty(end) : segment.storedBytes();
        long raw = segment == null ? END_MARKER : segment.rawBytes();
        index.putIndex(new IndexRecord(start, raw + padding, stored), partition);
      }
    }
    return index;
  }

  @Override
  public boolean isPublished() {
    return published;
  }

  @Override
  public void checkOpen() throws IOException {
    if (published) {
      throw new IOException(attempt() + ": a record was emitted after the map has ended and its"
          + " output is written, so that nobody would get it; wait for the mapper's threads before"
          + " the map ends");
    }
  }
}
