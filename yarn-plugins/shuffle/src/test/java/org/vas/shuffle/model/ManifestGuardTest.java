package org.vas.shuffle.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.map.MapRun;
import org.vas.shuffle.mof.Manifest;
import org.vas.shuffle.mof.ManifestFormat;
import org.vas.shuffle.mof.ShuffleDirs;

/** Without the rule "a manifest, and written last" half a map is taken for the whole. */
@Timeout(120)
class ManifestGuardTest {
  private static final TaskAttemptID DEAD = History.map(0, 0);
  private static final TaskAttemptID NEXT = History.map(0, 1);

  @TempDir Path directory;
  private final Records records = new Records(true);
  private JobConf job;
  private Path manifest;
  private Master master;

  /** An attempt that has all its runs in its files, and says SUCCEEDED. */
  @BeforeEach
  void writeRuns() throws Exception {
    job = History.job(directory, new Shape(1, 1, "packed", "none", false, true));
    job.setInt("vas.shuffle.max-runs", 16);
    MapRun.of(job, DEAD, records.script(DEAD, false));
    manifest = Path.of(new ShuffleDirs(job).manifest(DEAD).toUri().getPath());
    master = new Master(map -> {
      MapRun.of(job, NEXT, records.script(NEXT, false));
      master.event(NEXT, Status.SUCCEEDED);
    }, "here");
    master.event(DEAD, Status.SUCCEEDED);
  }

  @Test
  void withTheGuardAMapWithoutManifestRunsAgain() throws Exception {
    Files.delete(manifest);
    assertEquals(records.input(List.of(NEXT), 0, 1), reduced().input());
    assertTrue(master.reported().contains(DEAD));
  }

  /** As if it had been published when its first run was written. */
  @Test
  void withoutTheGuardHalfAMapIsTakenForTheWhole() throws Exception {
    Manifest whole = ManifestFormat.decode(Files.readAllBytes(manifest));
    assertTrue(whole.runs() > 1);
    Files.write(manifest, ManifestFormat.encode(firstRun(whole)));
    List<String> whatItShouldBe = records.input(List.of(DEAD), 0, 1);
    ReduceAttempt attempt = reduced();
    assertTrue(attempt.succeeded(), "an answer");
    assertTrue(attempt.input().size() < whatItShouldBe.size(), "and a wrong one");
    assertTrue(whatItShouldBe.containsAll(attempt.input()));
  }

  private ReduceAttempt reduced() throws Exception {
    master.reduceStarts(-1);
    TaskAttemptID id = new TaskAttemptID("1", 1, TaskType.REDUCE, 0, 0);
    return ReduceAttempt.run(job, id, 1, master, NthCall.never());
  }

  private static Manifest firstRun(Manifest whole) throws IOException {
    return Manifest.of(whole.attempt()).host(whole.host()).partitions(whole.partitions()).runs(1)
        .files(whole.files()).segments(whole.segments().stream()
            .filter(segment -> segment.run() == 0).collect(Collectors.toList()))
        .build();
  }
}
