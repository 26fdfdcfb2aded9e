package org.vas.workloads.fetch;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.util.Progress;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Fetches and merges by the consumer that {@code vas.bench.fetch.consumer} names, and reads every
 * merged record, which is all that a reducer does before its own code. Hands no record on, so that
 * no job's code is measured.
 *
 * @param <K> key of the map output
 * @param <V> its value
 */
public final class CountingConsumer<K, V> implements ShuffleConsumerPlugin<K, V> {
  static final String CONSUMER = "vas.bench.fetch.consumer";

  /** What the last one in this process read; one fetch runs at a time. */
  private static RecordSum last = new RecordSum();

  private ShuffleConsumerPlugin<K, V> consumer;

  static synchronized RecordSum last() {
    return last;
  }

  private static synchronized void last(RecordSum sum) {
    last = sum;
  }

  @Override
  @SuppressWarnings("unchecked")
  public void init(Context<K, V> context) {
    JobConf job = context.getJobConf();
    consumer = (ShuffleConsumerPlugin<K, V>) ReflectionUtils.newInstance(
        job.getClass(CONSUMER, null, ShuffleConsumerPlugin.class), job);
    consumer.init(context);
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    RawKeyValueIterator records = consumer.run();
    RecordSum sum = new RecordSum();
    while (records.next()) {
      DataInputBuffer key = records.getKey();
      DataInputBuffer value = records.getValue();
      sum.add(key.getData(), key.getPosition() + 1, key.getLength() - key.getPosition() - 1,
          value.getData(), value.getPosition() + 1, value.getLength() - value.getPosition() - 1);
    }
    records.close();
    last(sum);
    return new NoRecords();
  }

  @Override
  public void close() {
    consumer.close();
  }

  /** The end of all records. */
  private static final class NoRecords implements RawKeyValueIterator {
    @Override
    public DataInputBuffer getKey() {
      throw new IllegalStateException("the consumer counted the records and hands none on");
    }

    @Override
    public DataInputBuffer getValue() {
      throw new IllegalStateException("the consumer counted the records and hands none on");
    }

    @Override
    public boolean next() {
      return false;
    }

    @Override
    public void close() {}

    @Override
    public Progress getProgress() {
      return new Progress();
    }
  }
}
