package org.vas.shuffle.map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.mof.MetadataOperation;
import org.vas.shuffle.mof.ObservedFileSystem;

/** A map attempt counts exactly the requests that it makes to the metadata server. */
class MapMetadataTest {
  @TempDir
  private Path directory;

  @AfterEach
  void heal() {
    SharedFileSystem.heal();
  }

  @ParameterizedTest
  @CsvSource({"packed, 16, 16", "packed, 1, 16", "per-reducer, 1, 2", "packed, 1, 2"})
  void countersAreTheCallsThatWereMade(String layout, int sortMb, int maxRuns) throws Exception {
    JobConf job = MapRun.job(directory);
    ObservedFileSystem.configure(job, SharedFileSystem.SCHEME);
    job.set("vas.shuffle.layout", layout);
    job.setInt(MRJobConfig.IO_SORT_MB, sortMb);
    job.setInt("vas.shuffle.max-runs", maxRuns);
    job.setNumReduceTasks(3);
    MapRun run = MapRun.of(job, MapMetadataTest::words);
    for (MetadataOperation each
        : EnumSet.complementOf(EnumSet.of(MetadataOperation.DIRECTORIES_CREATED))) {
      assertEquals(ObservedFileSystem.calls(each), run.operations(each), each::name);
    }
    assertEquals(2, run.operations(MetadataOperation.DIRECTORIES_CREATED));
    assertEquals(0, ObservedFileSystem.calls(MetadataOperation.DIRECTORIES_CREATED), "mkdirs");
    try (var files = Files.list(MapRun.directory(job))) {
      assertEquals(files.count(), run.counter("FILES_PUBLISHED"));
    }
    assertEquals(1, run.counter("OUTPUTS_PUBLISHED"));
  }

  /** The job ends, and its directory goes, between the look at it and the making of ours. */
  @Test
  void aJobDirectoryThatGoesMeanwhileIsNotMadeAgain() throws Exception {
    JobConf job = MapRun.job(directory);
    Path staging = directory.resolve("staging");
    SharedFileSystem.inject((point, path) -> {
      if (point.equals("status") && path.getName().equals(MapRun.ATTEMPT.toString())) {
        Files.deleteIfExists(staging);
      }
    });
    IOException e =
        assertThrows(IOException.class, () -> MapRun.of(job, MapMetadataTest::words));
    assertTrue(e.getMessage().endsWith(staging + ": the job's staging directory is gone; the job"
        + " has ended, or somebody removed it"), e::getMessage);
    assertFalse(Files.exists(staging));
  }

  private static void words(Emitter.Output output) throws IOException {
    for (int i = 0; i < 60_000; i++) {
      output.emit(new Text("word" + i), new IntWritable(i));
    }
  }
}
