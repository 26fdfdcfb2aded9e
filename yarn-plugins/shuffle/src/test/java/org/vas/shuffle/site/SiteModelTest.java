package org.vas.shuffle.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.vas.shuffle.site.Broken.Invariant;

/**
 * The whole life of jobs on a site, at random: appends, renames, commits, the janitor, evacuation,
 * guests that die with what they had not synced, two masters, OSTs that go away. The seed of a
 * history that breaks a promise is in the error: {@code -Dvas.site.seed=N} runs that one alone.
 */
@Timeout(600)
class SiteModelTest {
  private static final int HISTORIES = 300;
  private static final int HISTORIES_AT_LENGTH = 10_000;
  /** Histories in which a guard that is off has to show. */
  private static final int TRIES = 3000;

  @TempDir Path directory;

  private int runAll(Guards guards, long first, int count) throws Exception {
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
  void tenThousandHistoriesOfASiteKeepItsPromises() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> errors = new ArrayList<>();
    for (int half = 0; half < 2; half++) {
      long first = HISTORIES + half * (HISTORIES_AT_LENGTH / 2);
      Path own = Files.createDirectories(directory.resolve("half" + half));
      Thread thread = new Thread(() -> {
        try {
          Site site = new Site(own, Guards.on());
          for (long seed = first; seed < first + HISTORIES_AT_LENGTH / 2; seed++) {
            SiteHistory.run(site, own, seed);
          }
        } catch (Throwable e) { // the test tells it
          synchronized (errors) {
            errors.add(e);
          }
        }
      });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    for (Throwable e : errors) {
      throw new AssertionError(e.getMessage(), e);
    }
  }

  /** Runs histories until one breaks a promise, which must be this one. */
  private void breaks(Invariant promise, Consumer<Guards> off) throws Exception {
    Guards guards = Guards.on();
    off.accept(guards);
    try {
      runAll(guards, 0, TRIES);
    } catch (Broken e) {
      assertEquals(promise, e.invariant(), e.getMessage());
      System.out.println(e.getMessage() + " " + List.of(e.getSuppressed()));
      return;
    }
    throw new AssertionError("nothing broke in " + TRIES + " histories");
  }

  @Test
  void withoutSyncOnCloseAcknowledgedBytesAreLost() throws Exception {
    breaks(Invariant.LOST_BYTES, guards -> guards.lazyPaths = ".*/(log|replaced.*|published.*)");
  }

  @Test
  void withoutSyncOnCloseAJobsOutputIsWrong() throws Exception {
    breaks(Invariant.WRONG_OUTPUT, guards -> guards.lazyPaths = ".*/(shuffle/attempt_|out\\d).*");
  }

  @Test
  void withoutTheNewNameBeingFreeARenameLosesAFile() throws Exception {
    breaks(Invariant.LOST_BYTES,
        guards -> guards.rename = org.vas.filesystem.ModelGuest.Rename.LOOKS_FIRST);
  }

  @Test
  void withoutChecksOfMapOutputAJobsOutputIsWrong() throws Exception {
    breaks(Invariant.WRONG_OUTPUT, guards -> guards.mapOutputIsChecked = false);
  }

  @Test
  void withoutTheCommitsGuardTwoMastersSpoilTheOutput() throws Exception {
    breaks(Invariant.WRONG_OUTPUT, guards -> guards.onlyTheCurrentMasterCommits = false);
  }

  @Test
  void aJanitorThatTakesTheUnknownForOverTakesWhatALiveJobNeeds() throws Exception {
    breaks(Invariant.LOST_BYTES, guards -> guards.unknownIsNotOver = false);
  }

  @Test
  void withoutTheJanitorJobsLeaveTheirFiles() throws Exception {
    breaks(Invariant.LEFTOVER, guards -> guards.janitorRuns = false);
  }

  @Test
  void withLinksFollowedAStrangersFileIsChanged() throws Exception {
    breaks(Invariant.STRANGERS_FILE, guards -> guards.links = "all");
  }
}
