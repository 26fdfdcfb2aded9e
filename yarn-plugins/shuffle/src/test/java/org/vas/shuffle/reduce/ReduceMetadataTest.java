package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.mof.MetadataOperation;
import org.vas.shuffle.mof.ObservedFileSystem;

/** A reduce attempt counts exactly the requests that it makes to the metadata server. */
class ReduceMetadataTest {
  @TempDir
  private Path directory;

  /** Manifests, lengths, MOFs and passes; the second attempt verifies checksums as well. */
  @ParameterizedTest
  @CsvSource({"0, false", "1, false", "0, true"})
  @Timeout(120)
  void countersAreTheCallsThatWereMade(int attempt, boolean passes) throws Exception {
    ReduceHarness harness = new ReduceHarness(directory, 12);
    ObservedFileSystem.configure(harness.job, SharedFileSystem.SCHEME);
    for (int map = 0; map < 12; map++) {
      harness.map(map, List.of(records(passes ? 9_000 : 90), records(10)));
    }
    if (passes) {
      harness.job.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 300 << 10);
    }
    ObservedFileSystem.reset();
    harness.checkAttempt(attempt);
    assertEquals(passes, harness.counter("PASSES") > 0);
    for (MetadataOperation each : MetadataOperation.values()) {
      long made = each == MetadataOperation.DIRECTORIES_CREATED
          ? (passes ? 1 : 0) : ObservedFileSystem.calls(each);
      assertEquals(made, harness.counter(each.name()), each::name);
    }
    assertEquals(12 + harness.counter("MOFS_OPENED"), harness.counter("OPENS"));
    // Map outputs need none; a later attempt looks for the directory of the one before.
    assertEquals(attempt, harness.counter("STATS"));
  }

  private static List<Rec> records(int count) {
    List<Rec> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      records.add(new Rec(new Text("key" + i * 7919L % count), new Text("a value of some bytes")));
    }
    return records;
  }
}
