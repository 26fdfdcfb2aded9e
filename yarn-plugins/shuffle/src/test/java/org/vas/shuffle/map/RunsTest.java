package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
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
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.map.WrittenOutput.Record;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.mof.ShuffleDirs;
import org.vas.shuffle.mof.ShuffleFiles;
import org.vas.shuffle.order.KeyOrder;

/** Merges many runs, and counts how much that writes and what is left on disk. */
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
  @CsvSource({"60, 16, 10, 3", "60, 4, 10, 3", "60, 1, 4, 4.5", "18, 16, 10, 1.5"})
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

  /** What is known of runs takes memory, so there are never very many. */
  @Test
  void veryManyRunsAreThinnedOutBeforeTheEnd() throws Exception {
    ShuffleDirs dirs = new ShuffleDirs(job);
    ShuffleFiles fs = new ShuffleFiles(dirs.root().getFileSystem(job), operation -> {});
    AttemptFiles files = new AttemptFiles(fs, dirs.attempt(MapRun.ATTEMPT));
    files.make(dirs);
    KeyOrder order = KeyOrder.of(job);
    Ledger ledger = new Ledger(1);
    BufferMemory memory = new BufferMemory(1 << 20);
    Entries entries = new Entries(1, memory);
    RecordBuffer buffer = new RecordBuffer(memory, entries, order, () -> {
      throw new IOException("full");
    });
    int most = 0;
    try (Runs runs = new Runs(
        job, files, order, null, ledger, new SegmentWriter(job), () -> {})) {
      for (int i = 0; i < 700; i++) {
        buffer.begin();
        buffer.writeInt(i);
        buffer.endKey();
        ledger.collected(0, buffer.end(0));
        runs.write(entries, buffer);
        buffer.clear();
        most = Math.max(most, runs.count());
        if (runs.isCrowded()) {
          runs.thin(buffer.trim());
        }
      }
      assertEquals(257, most);
      runs.finish(1 << 20);
      assertEquals(16, runs.count());
      ledger.check(runs.segments());
    }
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
