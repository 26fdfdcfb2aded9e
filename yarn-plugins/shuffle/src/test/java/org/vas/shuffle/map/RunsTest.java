package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.shuffle.map.WrittenOutput.Record;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.Segment;

/** How much merging many runs writes, and what is left on disk. */
class RunsTest {
  private static final int RECORD = 60_000;

  @TempDir
  Path directory;
  private JobConf job;

  @BeforeEach
  void makeJob() throws Exception {
    job = MapRun.job(directory);
    job.setInt(MRJobConfig.IO_SORT_MB, 1);
    job.setMapOutputKeyClass(IntWritable.class);
    job.setMapOutputValueClass(BytesWritable.class);
    SharedFileSystem.heal();
  }

  @AfterEach
  void heal() {
    SharedFileSystem.heal();
  }

  /** By R runs of equal size; every byte is written once, and again for each level of merges. */
  @ParameterizedTest
  @CsvSource({"60, 16, 10, 2.1", "60, 4, 10, 2.3", "60, 1, 4, 4.2", "18, 16, 10, 1.3"})
  void noByteIsRewrittenMoreOftenThanALogarithm(int runs, int most, int factor, double times)
      throws Exception {
    job.setInt("vas.shuffle.max-runs", most);
    job.setInt(MRJobConfig.IO_SORT_FACTOR, factor);
    Manifest manifest = run(runs);
    assertTrue(manifest.runs() <= most, () -> manifest.runs() + " runs");
    long output = manifest.segments().stream().mapToLong(Segment::storedBytes).sum();
    double written = (double) SharedFileSystem.WRITTEN.get() / output;
    assertTrue(written <= times, () -> "each byte was written " + written + " times");
    List<Integer> keys = new ArrayList<>();
    for (Record record : WrittenOutput.records(job, manifest, 0)) {
      keys.add(java.nio.ByteBuffer.wrap(record.key).getInt());
    }
    assertEquals(LongStream.range(0, keys.size()).sum(),
        keys.stream().mapToLong(Integer::longValue).sum());
  }

  @Test
  void filesOfWhichNothingIsLeftAreRemoved() throws Exception {
    job.setInt("vas.shuffle.max-runs", 1);
    Manifest manifest = run(12);
    try (var files = Files.list(MapRun.directory(job))) {
      assertEquals(manifest.files().size() + 1, files.count());
    }
    assertEquals(1, manifest.files().size());
  }

  private Manifest run(int runs) throws Exception {
    int records = runs * ((1 << 20) / RECORD - 2);
    MapRun.of(job, output -> {
      for (int i = 0; i < records; i++) {
        output.emit(new IntWritable(i), new BytesWritable(new byte[RECORD]));
      }
    });
    return WrittenOutput.manifest(job);
  }
}
