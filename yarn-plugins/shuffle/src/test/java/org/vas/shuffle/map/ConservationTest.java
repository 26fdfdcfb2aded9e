package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.mof.ShuffleDirs;

/** A map publishes exactly what was collected, or nothing; without the guard it publishes less. */
class ConservationTest {
  private static final int RECORDS = 60_000;

  @TempDir
  Path directory;
  private JobConf job;

  @BeforeEach
  void makeJob() throws IOException {
    job = MapRun.job(directory);
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    Faulty.lost = 0;
  }

  @ParameterizedTest
  @CsvSource({"false, 16", "false, 1", "true, 16", "true, 1"})
  void aRecordLostInWritingFailsTheAttempt(boolean combiner, int maxRuns) throws Exception {
    use(Guarded.class, combiner, maxRuns);
    IOException e = assertThrows(IOException.class, this::run);
    assertTrue(e.getMessage().matches("partition 0: [0-9]+ records in [0-9]+ bytes were collected,"
        + " but [0-9]+ in [0-9]+ were written; nothing is published"), e::getMessage);
    assertFalse(Files.exists(MapRun.directory(job).resolve(ShuffleDirs.MANIFEST)));
  }

  /** The guard is off: the same fault is published, and reads as if it were all. */
  @ParameterizedTest
  @CsvSource({"16", "1"})
  void withoutTheGuardAWrongOutputIsPublished(int maxRuns) throws Exception {
    use(Unguarded.class, false, maxRuns);
    run();
    int read = WrittenOutput.records(job, WrittenOutput.manifest(job), 0).size();
    assertTrue(Faulty.lost > 0);
    assertEquals(RECORDS - Faulty.lost, read);
  }

  @ParameterizedTest
  @CsvSource({"false, 16", "false, 1", "true, 16", "true, 1"})
  void whatIsWholeIsPublished(boolean combiner, int maxRuns) throws Exception {
    use(LustreCollector.class, combiner, maxRuns);
    run();
    assertTrue(Files.exists(MapRun.directory(job).resolve(ShuffleDirs.MANIFEST)));
  }

  /** A combiner may leave records out; what it puts out has to be there. */
  @Test
  void aCombinerThatStopsEarlyIsItsOwnAffair() throws Exception {
    use(LustreCollector.class, false, 1);
    job.setClass(MRJobConfig.COMBINE_CLASS_ATTR, FirstKeyOnly.class,
        org.apache.hadoop.mapreduce.Reducer.class);
    run();
    assertEquals(1, WrittenOutput.records(job, WrittenOutput.manifest(job), 0).size());
  }

  @Test
  void aSegmentTooManyIsFoundToo() {
    Ledger ledger = new Ledger(2);
    ledger.collected(1, 10);
    ledger.spilled();
    Segment one = new Segment(1, 0, 0, 0, 16, 12, 1, 0);
    assertThrows(IOException.class, () -> ledger.check(List.of(one, one)));
    assertThrows(IOException.class, () -> ledger.check(List.of()));
  }

  private void use(Class<?> collector, boolean combiner, int maxRuns) {
    job.set("mapreduce.job.map.output.collector.class", collector.getName());
    job.setInt("vas.shuffle.max-runs", maxRuns);
    if (combiner) {
      job.setClass(MRJobConfig.COMBINE_CLASS_ATTR, IntSumReducer.class,
          org.apache.hadoop.mapreduce.Reducer.class);
    }
  }

  private void run() throws Exception {
    MapRun.of(job, output -> {
      for (int i = 0; i < RECORDS; i++) {
        output.emit(new Text("word" + i), new IntWritable(i));
      }
    });
  }

  /** Loses one record of those that it writes. */
  private static final class Faulty extends SegmentWriter {
    private static final int WHICH = 777;
    private static int lost;
    private int count;

    Faulty(JobConf job) {
      super(job);
    }

    @Override
    public void append(byte[] record, int from, int length) throws IOException {
      if (++count == WHICH) {
        lost++;
      } else {
        super.append(record, from, length);
      }
    }

    @Override
    public void append(byte[] key, int keyFrom, int keyLength,
        byte[] value, int valueFrom, int valueLength) throws IOException {
      if (++count == WHICH) {
        lost++;
      } else {
        super.append(key, keyFrom, keyLength, value, valueFrom, valueLength);
      }
    }
  }

  /** A collector with the fault and with the guard. */
  public static final class Guarded<K, V> extends LustreCollector<K, V> {
    @Override
    MapOutput<K, V> open(MapOutputCollector.Context context)
        throws IOException, ClassNotFoundException {
      JobConf job = context.getJobConf();
      return new MapOutput<>(
          context, new Ledger(job.getNumReduceTasks()), new Faulty(job));
    }
  }

  /** A collector with the fault and without the guard. */
  public static final class Unguarded<K, V> extends LustreCollector<K, V> {
    @Override
    MapOutput<K, V> open(MapOutputCollector.Context context)
        throws IOException, ClassNotFoundException {
      JobConf job = context.getJobConf();
      return new MapOutput<>(context, new Ledger(job.getNumReduceTasks()) {
        @Override
        void check(List<Segment> segments) {}
      }, new Faulty(job));
    }
  }

  /** A combiner that ends after one group. */
  public static final class FirstKeyOnly
      extends org.apache.hadoop.mapreduce.Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    public void run(Context context) throws IOException, InterruptedException {
      if (context.nextKey()) {
        context.write(context.getCurrentKey(), new IntWritable(1));
      }
    }
  }
}
