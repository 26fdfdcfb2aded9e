package org.vas.shuffle.map;

import java.io.IOException;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.Counters.Counter;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.order.KeyOrder;

/** Collects and sorts what one map attempt emits, and has it written and published. */
final class MapOutput<K, V> implements MapOutputCollector<K, V> {
  private static final int RECORDS_PER_COUNT = 1 << 12;

  private final TaskReporter reporter;
  private final Class<?> keyClass;
  private final Class<?> valueClass;
  private final int partitions;
  private final Serializer<K> keys;
  private final Serializer<V> values;
  private final Entries entries;
  private final RecordBuffer buffer;
  private final Ledger ledger;
  private final OutputPlace place;
  private final Runs runs;
  private final Counter recordCounter;
  private final Counter byteCounter;
  private long uncountedRecords;
  private long uncountedBytes;
  private Throwable broken;
  private final long bufferBytes;

  /** Opens an output on Lustre. */
  MapOutput(Context context, Ledger ledger, SegmentWriter writer)
      throws IOException, ClassNotFoundException {
    this(context, ledger, writer, new Publisher(context));
  }

  MapOutput(Context context, Ledger ledger, SegmentWriter writer, OutputPlace place)
      throws IOException, ClassNotFoundException {
    JobConf job = context.getJobConf();
    this.reporter = context.getReporter();
    this.keyClass = job.getMapOutputKeyClass();
    this.valueClass = job.getMapOutputValueClass();
    this.partitions = job.getNumReduceTasks();
    this.recordCounter = reporter.getCounter(TaskCounter.MAP_OUTPUT_RECORDS);
    this.byteCounter = reporter.getCounter(TaskCounter.MAP_OUTPUT_BYTES);
    KeyOrder order = KeyOrder.of(job);
    this.ledger = ledger;
    this.bufferBytes = CollectorRules.bufferBytes(job);
    BufferMemory memory = new BufferMemory(bufferBytes);
    this.entries = new Entries(partitions, memory);
    this.buffer = new RecordBuffer(memory, entries, order, this::spill);
    this.keys = serializer(job, keyClass);
    this.values = serializer(job, valueClass);
    this.place = place;
    this.runs = new Runs(job, place.files(), order,
        Combine.<K, V>of(job, place.attempt(), reporter), ledger, writer, reporter);
    place.makeDirectory();
  }

  /** Does nothing: the constructor has read the context. */
  @Override
  public void init(Context context) {}

  /** Takes one record; synchronized because multithreaded map runners collect at once. */
  @Override
  public synchronized void collect(K key, V value, int partition) throws IOException {
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
  @Override
  public synchronized void flush() throws IOException {
    if (place.isPublished()) {
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
      place.publish(runs, ledger);
    } catch (IOException | RuntimeException | Error e) {
      broken = e;
      throw e;
    }
    count();
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
    place.checkOpen();
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

  private void count() {
    recordCounter.increment(uncountedRecords);
    byteCounter.increment(uncountedBytes);
    uncountedRecords = 0;
    uncountedBytes = 0;
  }

  private <T> Serializer<T> serializer(JobConf job, Class<?> type) throws IOException {
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
