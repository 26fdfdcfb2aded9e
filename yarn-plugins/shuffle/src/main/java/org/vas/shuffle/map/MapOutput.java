package org.vas.shuffle.map;

import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.Counters.Counter;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.net.NetUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.ManifestFormat;
import org.vas.shuffle.mof.MetadataOperation;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.mof.ShuffleDirs;
import org.vas.shuffle.mof.ShuffleFiles;
import org.vas.shuffle.order.KeyOrder;

/** Collects, sorts, writes and publishes what one map attempt emits. */
final class MapOutput<K, V> implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(MapOutput.class);
  private static final int RECORDS_PER_COUNT = 1 << 12;
  private static final String UNPUBLISHED = PredictableNames.UNPUBLISHED;

  private final JobConf job;
  private final MapTask task;
  private final TaskReporter reporter;
  private final Class<?> keyClass;
  private final Class<?> valueClass;
  private final int partitions;
  private final Serializer<K> keys;
  private final Serializer<V> values;
  private final Entries entries;
  private final RecordBuffer buffer;
  private final Ledger ledger;
  private final AttemptFiles files;
  private final Runs runs;
  private final Counter recordCounter;
  private final Counter byteCounter;
  private long uncountedRecords;
  private long uncountedBytes;
  private Throwable broken;
  private final long bufferBytes;
  private boolean published;

  MapOutput(MapOutputCollector.Context context, Ledger ledger, SegmentWriter writer)
      throws IOException, ClassNotFoundException {
    this.job = context.getJobConf();
    this.task = context.getMapTask();
    this.reporter = context.getReporter();
    this.keyClass = job.getMapOutputKeyClass();
    this.valueClass = job.getMapOutputValueClass();
    this.partitions = job.getNumReduceTasks();
    this.recordCounter = reporter.getCounter(TaskCounter.MAP_OUTPUT_RECORDS);
    this.byteCounter = reporter.getCounter(TaskCounter.MAP_OUTPUT_BYTES);
    KeyOrder order = KeyOrder.of(job);
    this.ledger = ledger;
    this.bufferBytes = CollectorRules.bufferBytes(job);
    Memory memory = new Memory(bufferBytes);
    this.entries = new Entries(partitions, memory);
    this.buffer = new RecordBuffer(memory, entries, order, this::spill);
    this.keys = serializer(keyClass);
    this.values = serializer(valueClass);
    ShuffleDirs dirs = new ShuffleDirs(job);
    this.files = new AttemptFiles(new ShuffleFiles(CollectorRules.fileSystem(job, dirs),
        operation -> count(operation.name(), 1)), dirs.attempt(task.getTaskID()));
    this.runs = new Runs(job, files, order,
        Combine.<K, V>of(job, task.getTaskID(), reporter), ledger, writer, reporter);
    files.make(dirs);
  }

  /** Takes one record; synchronized because multithreaded map runners collect at once. */
  synchronized void collect(K key, V value, int partition) throws IOException {
    reporter.progress();
    check(key, value, partition);
    buffer.begin();
    keys.serialize(key);
    buffer.endKey();
    values.serialize(value);
    int bytes = buffer.end(partition);
    ledger.collected(partition, bytes);
    buffer.settle();
    uncountedBytes += bytes - buffer.headerBytes();
    if (++uncountedRecords == RECORDS_PER_COUNT) {
      count();
    }
  }

  /**
   * Writes what is left and publishes all of it. Called once more after a failure by the new API:
   * then it fails again.
   */
  synchronized void flush() throws IOException {
    if (published) {
      return;
    }
    checkWhole();
    try {
      if (entries.count() > 0) {
        runs.expectLast(buffer.bytes());
        spill();
      }
      buffer.free();
      runs.finish(bufferBytes);
      runs.close();
      publish();
    } catch (IOException | RuntimeException | Error e) {
      broken = e;
      throw e;
    }
    published = true;
    count();
    reporter.getCounter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES)
        .increment(runs.materializedBytes());
    reporter.getCounter(TaskCounter.SPILLED_RECORDS).increment(runs.spilledRecords());
    task.getSortPhase().complete();
  }

  @Override
  public synchronized void close() throws IOException {
    runs.close();
  }

  private void check(K key, V value, int partition) throws IOException {
    if (key.getClass() != keyClass) {
      throw mismatch("key", keyClass, key);
    }
    if (value.getClass() != valueClass) {
      throw mismatch("value", valueClass, value);
    }
    if (partition < 0 || partition >= partitions) {
      throw new IOException("Illegal partition for " + key + " (" + partition + ")");
    }
    if (broken != null) {
      checkWhole();
    }
    if (published) {
      throw new IOException(files.path(ShuffleDirs.MANIFEST) + ": a record was emitted after the map"
          + " has ended and its output is published, so that nobody would get it; wait for the"
          + " mapper's threads before the map ends");
    }
  }

  // In stock Hadoop's words, which users know.
  private static IOException mismatch(String what, Class<?> expected, Object given) {
    return new IOException("Type mismatch in " + what + " from map: expected "
        + expected.getName() + ", received " + given.getClass().getName());
  }

  private void checkWhole() throws IOException {
    if (broken != null) {
      throw new IOException("map output is not complete, and not published, since: "
          + broken.getMessage(), broken);
    }
  }

  private void spill() throws IOException {
    try {
      runs.write(entries, buffer);
      buffer.clear();
      if (runs.isCrowded()) {
        runs.thin(buffer.trim());
      }
    } catch (IOException | RuntimeException | Error e) {
      broken = e;
      throw e;
    }
  }

  private void publish() throws IOException {
    Manifest whole = manifest();
    ledger.check(whole.segments());
    byte[] manifest = ManifestFormat.encode(whole);
    try (FSDataOutputStream out = files.create(UNPUBLISHED)) {
      out.write(manifest);
      out.hsync();
    }
    files.rename(UNPUBLISHED, ShuffleDirs.MANIFEST);
    count("OUTPUTS_PUBLISHED", 1);
    count("FILES_PUBLISHED", whole.files().size() + 1);
    LOG.info("Published {}: {} runs, {} files", files.path(ShuffleDirs.MANIFEST), runs.count(),
        whole.files().size());
  }

  private Manifest manifest() {
    return Manifest.of(task.getTaskID().toString())
        .host(NetUtils.getLocalHostname())
        .compressed(job.getCompressMapOutput())
        .encrypted(CryptoUtils.isEncryptedSpillEnabled(job))
        .partitions(partitions)
        .runs(runs.count())
        .files(runs.files())
        .segments(runs.segments())
        .build();
  }

  private void count(String name, long value) {
    reporter.getCounter(MetadataOperation.GROUP, name).increment(value);
  }

  private void count() {
    recordCounter.increment(uncountedRecords);
    byteCounter.increment(uncountedBytes);
    uncountedRecords = 0;
    uncountedBytes = 0;
  }

  private <T> Serializer<T> serializer(Class<?> type) throws IOException {
    @SuppressWarnings("unchecked")
    Serializer<T> serializer =
        (Serializer<T>) new SerializationFactory(job).getSerializer(type);
    if (serializer == null) {
      throw new IOException("no serializer for " + type.getName()
          + "; name its serialization in io.serializations");
    }
    serializer.open(buffer);
    return serializer;
  }
}
