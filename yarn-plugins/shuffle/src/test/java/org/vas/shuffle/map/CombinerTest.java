package org.vas.shuffle.map;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.shuffle.map.WrittenOutput.Record;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.Segment;

/** The combiner of the job runs as stock Hadoop runs it, and all counters are stock's. */
class CombinerTest {
  @TempDir
  Path directory;
  private JobConf job;

  @BeforeEach
  void makeJob() throws IOException {
    job = MapRun.job(directory);
    job.setClass(MRJobConfig.COMBINE_CLASS_ATTR, IntSumReducer.class,
        org.apache.hadoop.mapreduce.Reducer.class);
  }

  @ParameterizedTest
  @CsvSource({"new, none, plain", "old, none, plain", "new, gzip, plain", "old, none, encrypted"})
  void countersOfOneRunAreStocks(String api, String codec, String encryption) throws Exception {
    if (api.equals("old")) {
      MapRun.useOldApi(job);
      job.unset(MRJobConfig.COMBINE_CLASS_ATTR);
      job.setCombinerClass(OldIntSum.class);
    }
    MapRun.compress(job, codec);
    if (encryption.equals("encrypted")) {
      MapRun.encrypt(job);
    }
    job.setNumReduceTasks(40);
    MapRun ours = MapRun.of(job, CombinerTest::words);
    Manifest manifest = WrittenOutput.manifest(job);
    MapRun stock = MapRun.stock(job, CombinerTest::words);
    for (int partition = 0; partition < 40; partition++) {
      assertEquals(WrittenOutput.stock(stock.job(), partition),
          WrittenOutput.records(job, manifest, partition));
    }
    assertSameCounters(stock, ours);
  }

  @Test
  void countersWithoutACombinerAreStocksToo() throws Exception {
    job.unset(MRJobConfig.COMBINE_CLASS_ATTR);
    job.setNumReduceTasks(40);
    assertSameCounters(MapRun.stock(job, CombinerTest::words), MapRun.of(job, CombinerTest::words));
  }

  @Test
  void theCombinerRunsOnEveryRunAndEveryMerge() throws Exception {
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    job.setInt("vas.shuffle.max-runs", 4);
    MapRun run = MapRun.of(job, output -> {
      for (int i = 0; i < 200_000; i++) {
        output.emit(new Text("word" + i % 100), new IntWritable(1));
      }
    });
    Manifest manifest = WrittenOutput.manifest(job);
    assertTrue(manifest.runs() <= 4, () -> manifest.runs() + " runs");
    Map<String, Integer> sums = new HashMap<>();
    for (Record record : all(manifest)) {
      sums.merge(new String(record.key, 1, record.key.length - 1, UTF_8),
          ByteBuffer.wrap(record.value).getInt(), Integer::sum);
    }
    assertEquals(100, sums.size());
    assertEquals(Collections.nCopies(100, 2000), new ArrayList<>(sums.values()));
    assertTrue(run.counter(TaskCounter.COMBINE_INPUT_RECORDS) > 200_000);
  }

  private static void assertSameCounters(MapRun stock, MapRun ours) {
    for (TaskCounter counter : List.of(TaskCounter.MAP_OUTPUT_RECORDS,
        TaskCounter.MAP_OUTPUT_BYTES, TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES,
        TaskCounter.SPILLED_RECORDS, TaskCounter.COMBINE_INPUT_RECORDS,
        TaskCounter.COMBINE_OUTPUT_RECORDS)) {
      assertEquals(stock.counter(counter), ours.counter(counter), counter::name);
    }
  }

  private static void words(Emitter.Output output) throws IOException {
    for (int i = 0; i < 5_000; i++) {
      output.emit(new Text("word" + i % 17), new IntWritable(i));
    }
  }

  private List<Record> all(Manifest manifest) throws IOException {
    List<Record> records = new ArrayList<>();
    for (Segment segment : manifest.segments()) {
      records.addAll(WrittenOutput.records(job, manifest, segment));
    }
    return records;
  }

  /** A combiner of the old API. */
  public static final class OldIntSum extends MapReduceBase
      implements Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    public void reduce(Text key, Iterator<IntWritable> values,
        OutputCollector<Text, IntWritable> output,
        Reporter reporter) throws IOException {
      int sum = 0;
      while (values.hasNext()) {
        sum += values.next().get();
      }
      output.collect(key, new IntWritable(sum));
    }
  }
}
