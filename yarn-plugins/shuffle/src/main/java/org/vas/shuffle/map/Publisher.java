package org.vas.shuffle.map;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.net.NetUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.ManifestFormat;
import org.vas.shuffle.mof.MetadataOperation;
import org.vas.shuffle.mof.ShuffleDirs;
import org.vas.shuffle.mof.ShuffleFiles;

/**
 * Publishes the runs of one map attempt: checks them against the ledger, writes the manifest under
 * another name, and renames it. Reducers see the whole output from then on, and nothing before.
 */
final class Publisher implements OutputPlace {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);
  private static final String UNPUBLISHED = PredictableNames.UNPUBLISHED;

  private final JobConf job;
  private final MapTask task;
  private final TaskReporter reporter;
  private final ShuffleDirs dirs;
  private final AttemptFiles files;
  private boolean published;

  /**
   * Makes the publisher of the map attempt that the context describes.
   *
   * @throws IOException if the job's staging directory is not where every reducer sees it
   */
  Publisher(MapOutputCollector.Context context) throws IOException {
    this.job = context.getJobConf();
    this.task = context.getMapTask();
    this.reporter = context.getReporter();
    this.dirs = new ShuffleDirs(job);
    this.files = new AttemptFiles(new ShuffleFiles(CollectorRules.fileSystem(job, dirs),
        operation -> count(operation.name(), 1)), dirs.attempt(task.getTaskID()));
  }

  @Override
  public void makeDirectory() throws IOException {
    files.make(dirs);
  }

  @Override
  public TaskAttemptID attempt() {
    return task.getTaskID();
  }

  @Override
  public AttemptFiles files() {
    return files;
  }

  @Override
  public boolean isPublished() {
    return published;
  }

  @Override
  public void publish(Runs runs, Ledger ledger) throws IOException {
    Manifest whole = manifest(runs);
    ledger.check(whole.segments());
    byte[] manifest = ManifestFormat.encode(whole);
    try (FSDataOutputStream out = files.create(UNPUBLISHED)) {
      out.write(manifest);
      out.hsync();
    }
    files.rename(UNPUBLISHED, ShuffleDirs.MANIFEST);
    published = true;
    count("OUTPUTS_PUBLISHED", 1);
    count("FILES_PUBLISHED", whole.files().size() + 1);
    LOG.info("Published {}: {} runs, {} files", files.path(ShuffleDirs.MANIFEST), runs.count(),
        whole.files().size());
    reporter.getCounter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES)
        .increment(runs.materializedBytes());
    reporter.getCounter(TaskCounter.SPILLED_RECORDS).increment(runs.spilledRecords());
    task.getSortPhase().complete();
  }

  @Override
  public void checkOpen() throws IOException {
    if (published) {
      throw new IOException(files.path(ShuffleDirs.MANIFEST) + ": a record was emitted after the"
          + " map has ended and its output is published, so that nobody would get it; wait for the"
          + " mapper's threads before the map ends");
    }
  }

  private Manifest manifest(Runs runs) {
    return Manifest.of(task.getTaskID().toString())
        .host(NetUtils.getLocalHostname())
        .compressed(job.getCompressMapOutput())
        .encrypted(CryptoUtils.isEncryptedSpillEnabled(job))
        .partitions(job.getNumReduceTasks())
        .runs(runs.count())
        .files(runs.files())
        .segments(runs.segments())
        .build();
  }

  private void count(String name, long value) {
    reporter.getCounter(MetadataOperation.GROUP, name).increment(value);
  }
}
