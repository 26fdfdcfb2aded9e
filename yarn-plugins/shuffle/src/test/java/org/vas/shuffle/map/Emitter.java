package org.vas.shuffle.map;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** A job whose one map emits what a test wants, through the old API and the new one. */
public final class Emitter {
  private static final String TICKET = "test.emitter";
  private static final AtomicInteger TICKETS = new AtomicInteger();
  private static final Map<String, Script> SCRIPTS = new ConcurrentHashMap<>();

  /** Takes the records that a script emits. */
  public interface Output {
    void emit(Object key, Object value) throws IOException;
  }

  /** Says what a map emits. */
  public interface Script {
    void run(Output output) throws IOException;
  }

  private Emitter() {}

  static void configure(JobConf job, Script script) {
    String ticket = Integer.toString(TICKETS.incrementAndGet());
    SCRIPTS.put(ticket, script);
    job.set(TICKET, ticket);
  }

  private static Script script(Configuration conf) {
    return SCRIPTS.get(conf.get(TICKET));
  }

  /** An input of one record, so that the script is called once. */
  public static final class NewInput extends InputFormat<NullWritable, IntWritable> {
    @Override
    public List<InputSplit> getSplits(JobContext context) {
      return List.of(new NoSplit());
    }

    @Override
    public RecordReader<NullWritable, IntWritable> createRecordReader(
        InputSplit split, TaskAttemptContext context) {
      return new OneRecord();
    }
  }

  /** Emits through the new API. */
  public static final class NewMapper
      extends Mapper<NullWritable, IntWritable, Object, Object> {
    @Override
    protected void map(NullWritable key, IntWritable value, Context context)
        throws IOException {
      script(context.getConfiguration()).run((k, v) -> {
        try {
          context.write(k, v);
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      });
    }
  }

  /** Emits through the old API. */
  public static final class OldMapper extends MapReduceBase
      implements org.apache.hadoop.mapred.Mapper<NullWritable, IntWritable, Object, Object> {
    private JobConf conf;

    @Override
    public void configure(JobConf job) {
      conf = job;
    }

    @Override
    public void map(NullWritable key, IntWritable value, OutputCollector<Object, Object> output,
        Reporter reporter) throws IOException {
      script(conf).run(output::collect);
    }
  }

  /** An input of one record for the old API. */
  public static final class OldInput
      implements org.apache.hadoop.mapred.InputFormat<NullWritable, IntWritable> {
    @Override
    public org.apache.hadoop.mapred.InputSplit[] getSplits(JobConf job, int wanted) {
      return new org.apache.hadoop.mapred.InputSplit[] {new NoSplit()};
    }

    @Override
    public org.apache.hadoop.mapred.RecordReader<NullWritable, IntWritable> getRecordReader(
        org.apache.hadoop.mapred.InputSplit split, JobConf job, Reporter reporter) {
      return new OldOneRecord();
    }
  }

  /** A split that stands for nothing. */
  public static final class NoSplit extends InputSplit
      implements org.apache.hadoop.mapred.InputSplit, Writable {
    @Override
    public long getLength() {
      return 1;
    }

    @Override
    public String[] getLocations() {
      return new String[0];
    }

    @Override
    public void write(DataOutput out) {}

    @Override
    public void readFields(DataInput in) {}
  }

  private static final class OneRecord extends RecordReader<NullWritable, IntWritable> {
    private boolean done;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {}

    @Override
    public boolean nextKeyValue() {
      boolean more = !done;
      done = true;
      return more;
    }

    @Override
    public NullWritable getCurrentKey() {
      return NullWritable.get();
    }

    @Override
    public IntWritable getCurrentValue() {
      return new IntWritable();
    }

    @Override
    public float getProgress() {
      return done ? 1 : 0;
    }

    @Override
    public void close() {}
  }

  private static final class OldOneRecord
      implements org.apache.hadoop.mapred.RecordReader<NullWritable, IntWritable> {
    private boolean done;

    @Override
    public boolean next(NullWritable key, IntWritable value) {
      boolean more = !done;
      done = true;
      return more;
    }

    @Override
    public NullWritable createKey() {
      return NullWritable.get();
    }

    @Override
    public IntWritable createValue() {
      return new IntWritable();
    }

    @Override
    public long getPos() {
      return 0;
    }

    @Override
    public float getProgress() {
      return done ? 1 : 0;
    }

    @Override
    public void close() {}
  }
}
