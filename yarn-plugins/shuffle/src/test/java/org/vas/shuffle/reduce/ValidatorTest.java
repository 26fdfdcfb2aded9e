package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.mof.JobFormat;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.ShuffleDirs;

@Timeout(60)
class ValidatorTest {
  private static final TaskAttemptID MAP = ReduceHarness.map(0, 0);
  private static final int KIB = 1 << 10;

  @TempDir Path dir;

  @AfterEach
  void heal() {
    SharedFileSystem.heal();
  }

  private static Validator validator(ReduceHarness harness, int verifyBytes, long toHold)
      throws IOException {
    ShuffleDirs dirs = new ShuffleDirs(harness.job);
    FileSystem fs = dirs.root().getFileSystem(harness.job);
    return new Validator(
        fs, dirs, JobFormat.of(harness.job), 0, verifyBytes, toHold, 1 << 20, ReadMeter.NONE);
  }

  /** So that the time of a validation of many calls is never taken for that of one. */
  @ParameterizedTest
  @ValueSource(ints = {0, 64 << 10})
  void tellsTheWatchOfEachCall(int verifyBytes) throws Exception {
    ReduceHarness harness = new ReduceHarness(dir, 1);
    harness.map(0, List.of(Rec.random(new Random(1), 30_000)));
    List<String> calls = new ArrayList<>();
    SharedFileSystem.inject((call, path) -> calls.add(call + " " + path.getName()));
    OutputFinding finding = validator(harness, verifyBytes, 0)
        .look(MAP, file -> calls.add("watch " + file.getName()));
    assertNotNull(finding.output());
    String watched = "";
    int watches = 0;
    for (String call : calls) {
      String file = call.substring(call.indexOf(' ') + 1);
      if (call.startsWith("watch ")) {
        watched = file;
        watches += file.equals("packed.mof") ? 1 : 0;
      } else {
        assertEquals(file, watched, () -> call + " without a watch in " + calls);
      }
    }
    Segment segment = finding.output().segments().get(0).segment();
    long blocks = verifyBytes == 0 ? 2 : Segment.checksumsOf(segment.storedBytes());
    assertEquals(2 + blocks, watches, "location, open, and each read");
  }

  @Test
  void whatFailsInTheDiagnosisIsAFindingToo() throws Exception {
    ReduceHarness harness = new ReduceHarness(dir, 1);
    SharedFileSystem.inject((call, path) -> {
      if (call.equals("list")) {
        throw new IllegalStateException("on purpose");
      }
    });
    OutputFinding finding = validator(harness, 0, 0).look(MAP, file -> {});
    assertEquals(OutputDiagnosis.SICK_FILE_SYSTEM, finding.diagnosis());
    assertTrue(finding.error().getMessage().contains("on purpose"));
  }

  @Test
  void holdsSmallSegmentsAsLongAsThereIsRoom() throws Exception {
    ReduceHarness harness = new ReduceHarness(dir, 1);
    List<List<Rec>> runs = new ArrayList<>();
    for (int run = 0; run < 3; run++) {
      runs.add(Rec.random(new Random(run), 1000));
    }
    runs.add(Rec.random(new Random(9), 30_000));
    harness.map(0, runs);
    List<SegmentFile> all =
        validator(harness, 0, 1 << 20).look(MAP, file -> {}).output().segments();
    assertEquals(List.of(true, true, true, false), held(all));
    long two = all.get(0).segment().storedBytes() + all.get(1).segment().storedBytes();
    assertEquals(List.of(true, true, false, false),
        held(validator(harness, 0, two + 5 * KIB).look(MAP, file -> {}).output().segments()));
  }

  private static List<Boolean> held(List<SegmentFile> segments) {
    List<Boolean> held = new ArrayList<>();
    segments.forEach(each -> held.add(each.held().isPresent()));
    return held;
  }
}
