package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.mof.ShuffleDirs;

class MapOutputTest {
  @TempDir
  Path directory;

  @Test
  void onePlainPackedRunIsStocksSpillFile() throws Exception {
    JobConf job = MapRun.job(directory);
    job.set("vas.shuffle.alignment", "1");
    job.set("vas.shuffle.layout", "packed");
    job.setNumReduceTasks(3);
    MapRun.of(job, MapOutputTest::words);
    byte[] ours =
        Files.readAllBytes(MapRun.directory(job).resolve(ShuffleDirs.PACKED));

    job.setClass("mapreduce.job.map.output.collector.class", MapTask.MapOutputBuffer.class,
        Object.class);
    MapRun stock = MapRun.of(job, MapOutputTest::words);
    assertArrayEquals(WrittenOutput.stockBytes(stock.job()), ours);
    assertEquals(3, WrittenOutput.manifest(job).segments().size());
  }

  private static void words(Emitter.Output output) throws java.io.IOException {
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      output.emit(new Text("word" + random.nextInt()), new IntWritable(i));
    }
  }
}
