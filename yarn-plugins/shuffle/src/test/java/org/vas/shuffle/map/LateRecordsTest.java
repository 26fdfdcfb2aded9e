package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Records that a thread of the mapper emits after the map are refused, not swallowed. */
class LateRecordsTest {
  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({"new", "old"})
  void aRecordAfterThePublicationIsRefused(String api) throws Exception {
    JobConf job = MapRun.job(directory);
    job.setNumReduceTasks(2);
    if (api.equals("old")) {
      MapRun.useOldApi(job);
    }
    AtomicReference<Emitter.Output> late = new AtomicReference<>();
    MapRun.of(job, output -> {
      late.set(output);
      output.emit(new Text("in time"), new IntWritable(1));
    });
    IOException refused = assertThrows(IOException.class,
        () -> late.get().emit(new Text("late"), new IntWritable(2)));
    assertTrue(refused.getMessage().contains("after the map has ended"), refused.getMessage());
  }

  @Test
  void whatWasInTimeIsThere() throws Exception {
    JobConf job = MapRun.job(directory);
    job.setNumReduceTasks(2);
    MapRun run = MapRun.of(job, output -> output.emit(new Text("in time"), new IntWritable(1)));
    assertEquals(1, run.counter(org.apache.hadoop.mapreduce.TaskCounter.MAP_OUTPUT_RECORDS));
  }
}
