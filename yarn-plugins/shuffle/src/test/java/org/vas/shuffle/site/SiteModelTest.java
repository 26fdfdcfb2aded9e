package org.vas.shuffle.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.vas.filesystem.ModelGuest.Rename;
import org.vas.shuffle.site.Broken.Invariant;

/**
 * Runs the whole life of jobs on a site, at random: appends, renames, commits, the janitor,
 * evacuation, guests that die with what they had not synced, two masters, OSTs that go away. The
 * seed of a history that breaks a promise is in the error: {@code -Dvas.site.seed=N} runs that one
 * alone.
 */
@Timeout(600)
class SiteModelTest {
  private static final int HISTORIES = 300;
  private static final int HISTORIES_AT_LENGTH = 10_000;
  private static final int THREADS = 2;
  /** Histories in which a guard that is off has to show. */
  private static final int TRIES = 3000;
  private static final int HISTORIES_OF_A_KIND = 50;
  private static final List<SiteStep> APPENDS = List.of(SiteStep.LOG_OPENS, SiteStep.LOG_APPENDS);
  private static final List<SiteStep> SWEEPS =
      List.of(SiteStep.RM_CHANGES, SiteStep.TIME, SiteStep.JANITOR);
  private static final List<SiteStep> TWO_MASTERS =
      List.of(SiteStep.NEW_MASTER, SiteStep.COMMIT, SiteStep.REDUCE);

  /** Whose messages about each of many thousand files nobody reads. */
  private static final List<Logger> LOUD = List.of(Logger.getLogger("org.vas.filesystem"),
      Logger.getLogger(FileOutputCommitter.class.getPackage().getName()));

  @TempDir Path directory;

  @BeforeEach
  void quiet() {
    LOUD.forEach(each -> each.setLevel(Level.OFF));
  }

  @AfterEach
  void loud() {
    LOUD.forEach(each -> each.setLevel(null));
  }

  private int runAll(Guards guards, long first, int count) throws Exception {
    return runAll(directory, guards, first, count);
  }

  private static int runAll(Path directory, Guards guards, long first, int count)
      throws Exception {
    Site site = new Site(directory, guards);
    int succeeded = 0;
    for (long seed = first; seed < first + count; seed++) {
      succeeded += SiteHistory.run(site, directory, seed);
    }
    return succeeded;
  }

  @Test
  void anyHistoryOfASiteKeepsItsPromises() throws Exception {
    Long seed = Long.getLong("vas.site.seed");
    if (seed != null) {
      runAll(Guards.on(), seed, 1);
      return;
    }
    int succeeded = runAll(Guards.on(), 0, HISTORIES);
    assertTrue(succeeded > HISTORIES / 2, succeeded + " jobs succeeded");
  }

  @Tag("long")
  @Test
  @Timeout(3600)  // for one that hangs: on two quiet cores it takes 6 min
  void tenThousandHistoriesOfASiteKeepTheirPromises() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<Integer>> parts = new ArrayList<>();
      for (int part = 0; part < THREADS; part++) {
        long first = HISTORIES + (long) part * HISTORIES_AT_LENGTH / THREADS;
        Path own = Files.createDirectories(directory.resolve("part" + part));
        parts.add(threads.submit(
            () -> runAll(own, Guards.on(), first, HISTORIES_AT_LENGTH / THREADS)));
      }
      int succeeded = 0;
      for (Future<Integer> part : parts) {
        succeeded += part.get();  // an error names the seed
      }
      assertTrue(succeeded > HISTORIES_AT_LENGTH / 3, succeeded + " jobs succeeded");
    } finally {
      threads.shutdownNow();
    }
  }

  /** Runs histories until one breaks a promise, which must be this one. */
  private void breaks(Invariant promise, Consumer<Guards> off) throws Exception {
    Guards guards = Guards.on();
    off.accept(guards);
    Broken broken = assertThrows(Broken.class, () -> runAll(guards, 0, TRIES));
    assertEquals(promise, broken.invariant(), broken.getMessage());
  }

  /** Runs histories with the same weights, and every guard on. */
  private void holds(Consumer<Guards> weights) throws Exception {
    Guards guards = Guards.on();
    weights.accept(guards);
    runAll(guards, 0, HISTORIES_OF_A_KIND);
  }

  // ---- I1: no wrong output.

  @Test
  void withoutSyncOnCloseAJobsOutputIsWrong() throws Exception {
    breaks(Invariant.WRONG_OUTPUT, guards -> guards.lazyPaths = ".*/(shuffle/attempt_|out\\d).*");
  }

  @Test
  void withoutChecksOfMapOutputAJobsOutputIsWrong() throws Exception {
    breaks(Invariant.WRONG_OUTPUT, guards -> guards.mapOutputIsChecked = false);
  }

  @Test
  void withoutTheGuardOfTheCommitTwoMastersSpoilTheOutput() throws Exception {
    breaks(Invariant.WRONG_OUTPUT, guards -> {
      guards.onlyTheCurrentMasterCommits = false;
      guards.often = TWO_MASTERS;
    });
  }

  // ---- I2: no acknowledged byte is lost.

  @Test
  void withoutSyncOnCloseAcknowledgedBytesAreLost() throws Exception {
    breaks(Invariant.LOST_BYTES, guards -> guards.lazyPaths = ".*/(replaced|published|own).*");
  }

  @Test
  void withoutLocksTwoAppendersOverwriteOneAnother() throws Exception {
    breaks(Invariant.LOST_BYTES, guards -> {
      guards.lazyPaths = ".*/log";
      guards.onlyEvacuated = true;
      guards.often = APPENDS;
    });
    holds(guards -> guards.often = APPENDS);
  }

  @Test
  void aRenameThatLooksFirstLosesAFile() throws Exception {
    breaks(Invariant.LOST_BYTES, guards -> {
      guards.rename = Rename.LOOKS_FIRST;
      guards.often = List.of(SiteStep.RENAMES);
    });
    holds(guards -> guards.often = List.of(SiteStep.RENAMES));
  }

  @Test
  void anEvacuationThatDoesNotSyncLosesWhatIsLazy() throws Exception {
    Consumer<Guards> evacuations = guards -> {
      guards.lazyPaths = ".*/(replaced|published|own).*";
      guards.onlyEvacuated = true;
      guards.often = List.of(SiteStep.EVACUATE, SiteStep.REPLACES);
    };
    breaks(Invariant.LOST_BYTES,
        evacuations.andThen(guards -> guards.evacuationSyncs = false));
    holds(evacuations);
  }

  @Test
  void aJanitorThatTakesTheUnknownForOverTakesWhatALiveJobNeeds() throws Exception {
    breaks(Invariant.LOST_BYTES, guards -> {
      guards.unknownIsNotOver = false;
      guards.often = SWEEPS;
    });
    holds(guards -> guards.often = SWEEPS);
  }

  // ---- I3: nothing is left; I4: strangers' files stay as they are.

  @Test
  void withoutTheJanitorJobsLeaveTheirFiles() throws Exception {
    breaks(Invariant.LEFTOVER, guards -> guards.janitorRuns = false);
  }

  @Test
  void withAllLinksFollowedAStrangersFileIsChanged() throws Exception {
    breaks(Invariant.STRANGERS_FILE, guards -> {
      guards.links = "all";
      guards.often = List.of(SiteStep.PLANT);
    });
    holds(guards -> guards.often = List.of(SiteStep.PLANT));
  }
}
