package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A map sorts, combines and merges in the thread that collects: code of the job has one thread. */
@Timeout(120)
class JobCodeThreadTest {
  private static final int KEYS = 200;
  private static final int RECORDS = 60_000;

  @TempDir Path directory;

  /** A number that is read by way of a static field, and notes which threads run its code. */
  public static final class ScratchKey implements WritableComparable<ScratchKey> {
    private static final Set<Thread> THREADS = new HashSet<>();
    private static int scratch;
    private int number;

    private static synchronized void runs() {
      THREADS.add(Thread.currentThread());
    }

    @Override
    public void write(DataOutput out) throws IOException {
      runs();
      out.writeInt(number);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      scratch = in.readInt();
      runs();
      number = scratch;
    }

    @Override
    public int compareTo(ScratchKey other) {
      runs();
      return Integer.compare(number, other.number);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof ScratchKey && number == ((ScratchKey) other).number;
    }

    @Override
    public int hashCode() {
      return number;
    }
  }

  @Test
  void W1_sortCombinerAndMergeRunInTheThreadOfTheMap() throws Exception {
    JobConf job = MapRun.job(directory);
    job.setMapOutputKeyClass(ScratchKey.class);
    job.setClass(MRJobConfig.COMBINE_CLASS_ATTR, IntSumReducer.class, Reducer.class);
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    job.setInt("vas.shuffle.max-runs", 1);
    job.setInt(JobContext.MAP_COMBINE_MIN_SPILLS, 1);
    Set<Thread> mapper = new HashSet<>();
    ScratchKey.THREADS.clear();
    MapRun ours = MapRun.of(job, output -> {
      mapper.add(Thread.currentThread());
      emit(output);
    });
    assertEquals(mapper, ScratchKey.THREADS);
    assertTrue(ours.counter(TaskCounter.COMBINE_INPUT_RECORDS) > RECORDS, "several runs, merged");
    MapRun stock = MapRun.stock(job, JobCodeThreadTest::emit);
    assertEquals(WrittenOutput.stock(stock.job(), 0),
        WrittenOutput.records(job, WrittenOutput.manifest(job), 0));
  }

  private static void emit(Emitter.Output output) throws IOException {
    ScratchKey key = new ScratchKey();
    for (int i = 0; i < RECORDS; i++) {
      key.number = i * 7919 % KEYS;
      output.emit(key, new IntWritable(1));
    }
  }
}
