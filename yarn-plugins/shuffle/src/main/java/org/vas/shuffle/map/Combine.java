package org.vas.shuffle.map;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Task.CombineOutputCollector;
import org.apache.hadoop.mapred.Task.CombinerRunner;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.vas.shuffle.mof.VInts;

/** Runs the job's combiner as stock Hadoop does, on the sorted records of one partition. */
final class Combine<K, V> {
  private final CombinerRunner<K, V> runner;
  private final CombineOutputCollector<K, V> collector;
  private final Writer<K, V> writer;

  private Combine(CombinerRunner<K, V> runner, CombineOutputCollector<K, V> collector,
      Writer<K, V> writer) {
    this.runner = runner;
    this.collector = collector;
    this.writer = writer;
    collector.setWriter(writer);
  }

  /** Returns the combiner of the job; null if it has none. */
  static <K, V> Combine<K, V> of(JobConf job, TaskAttemptID attempt, TaskReporter reporter)
      throws IOException, ClassNotFoundException {
    CombinerRunner<K, V> runner = CombinerRunner.create(job, attempt,
        reporter.getCounter(TaskCounter.COMBINE_INPUT_RECORDS), reporter, null);
    if (runner == null) {
      return null;
    }
    return new Combine<>(runner, new CombineOutputCollector<>(
        reporter.getCounter(TaskCounter.COMBINE_OUTPUT_RECORDS), reporter, job), new Writer<>(job));
  }

  /**
   * Runs the combiner; its records go to the output and are counted.
   * @throws IOException also if the combiner's class is missing, or it is interrupted
   */
  void run(RawKeyValueIterator records, RunOutput out) throws IOException {
    writer.out = out;
    writer.records = 0;
    writer.bytes = 0;
    try {
      runner.combine(records, collector);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted in the combiner").initCause(e);
    } catch (ClassNotFoundException e) {
      throw new IOException("cannot load the combiner: " + e.getMessage(), e);
    }
  }

  /** Returns how many records the last run emitted. */
  long records() {
    return writer.records;
  }

  /** Returns the number of bytes that the last run emitted, as IFile stores them. */
  long bytes() {
    return writer.bytes;
  }

  /** Takes what a combiner emits: all that stock's collector calls of an IFile's writer. */
  private static final class Writer<K, V> extends IFile.Writer<K, V> {
    private final Class<?> keyClass;
    private final Class<?> valueClass;
    private final DataOutputBuffer record = new DataOutputBuffer();
    private final Serializer<K> keys;
    private final Serializer<V> values;
    private RunOutput out;
    private long records;
    private long bytes;

    @SuppressWarnings("unchecked")
    Writer(JobConf job) throws IOException {
      super(null);
      this.keyClass = job.getMapOutputKeyClass();
      this.valueClass = job.getMapOutputValueClass();
      SerializationFactory factory = new SerializationFactory(job);
      this.keys = (Serializer<K>) factory.getSerializer(keyClass);
      this.values = (Serializer<V>) factory.getSerializer(valueClass);
      keys.open(record);
      values.open(record);
    }

    @Override
    public void append(K key, V value) throws IOException {
      check("key", key, keyClass);
      check("value", value, valueClass);
      record.reset();
      keys.serialize(key);
      int keyLength = record.getLength();
      values.serialize(value);
      int valueLength = record.getLength() - keyLength;
      records++;
      bytes += VInts.size(keyLength) + VInts.size(valueLength) + record.getLength();
      out.append(record.getData(), 0, keyLength, record.getData(), keyLength, valueLength);
    }

    private static void check(String what, Object given, Class<?> expected) throws IOException {
      if (given.getClass() != expected) {
        throw new IOException("wrong " + what + " class from the combiner: "
            + given.getClass().getName() + " is not " + expected.getName());
      }
    }
  }
}
