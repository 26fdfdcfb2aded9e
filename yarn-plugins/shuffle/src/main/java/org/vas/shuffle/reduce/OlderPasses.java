package org.vas.shuffle.reduce;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.filesystem.PredictableNames;
import org.vas.shuffle.mof.ShuffleDirs;
import org.vas.shuffle.mof.ShuffleFiles;

/**
 * Removes the passes that older attempts of this reduce left when they were killed: each may be as
 * large as the reducer's whole input, and counts against the user's quota.
 *
 * <p>An older attempt may be alive, because attempts of one task run at once where the application
 * master speculates. So the application master is asked by the call with which each attempt asks
 * whether it may go on; an attempt that is told no ends itself. The answer stays yes for a minute
 * (mapreduce.task.exit.timeout) after an attempt's end; so it is asked again from time to time.
 */
final class OlderPasses {
  private static final Logger LOG = LoggerFactory.getLogger(OlderPasses.class);

  private final ShuffleFiles fs;
  private final ShuffleDirs dirs;
  private final TaskUmbilicalProtocol umbilical;
  private final List<TaskAttemptID> undecided;

  /**
   * Makes the remover for one reduce attempt; removes nothing yet.
   *
   * @param mostAttempts how many attempts of one task may fail under one application master
   */
  OlderPasses(ShuffleFiles fs, ShuffleDirs dirs, TaskUmbilicalProtocol umbilical,
      TaskAttemptID attempt, int mostAttempts) {
    this.fs = requireNonNull(fs, "fs");
    this.dirs = requireNonNull(dirs, "dirs");
    this.umbilical = requireNonNull(umbilical, "umbilical");
    this.undecided = olderThan(attempt, mostAttempts);
  }

  private static List<TaskAttemptID> olderThan(TaskAttemptID attempt, int mostAttempts) {
    List<TaskAttemptID> older = new ArrayList<>();
    int own = attempt.getId() / LustreMerge.ATTEMPTS_OF_ONE_MASTER;
    for (int master = 0; master <= own; master++) {
      int first = master * LustreMerge.ATTEMPTS_OF_ONE_MASTER;
      int end = master == own ? attempt.getId() : first + mostAttempts;
      for (int id = first; id < end; id++) {
        older.add(new TaskAttemptID(attempt.getTaskID(), id));
      }
    }
    return older;
  }

  /** Removes the passes of those attempts that are over now; what cannot be removed stays. */
  void remove() {
    Iterator<TaskAttemptID> each = undecided.iterator();
    while (each.hasNext()) {
      TaskAttemptID attempt = each.next();
      try {
        if (isDone(attempt)) {
          each.remove();
        }
      } catch (IOException | InterruptedException e) {
        each.remove();
        LOG.warn("Cannot remove the passes of {}; the job's end will", attempt, e);
        if (e instanceof InterruptedException) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /** Returns whether there is nothing left to do for an attempt; false while it may be alive. */
  private boolean isDone(TaskAttemptID attempt) throws IOException, InterruptedException {
    List<Path> passes = passes(dirs.attempt(attempt));
    if (passes.isEmpty()) {
      return true;
    }
    // Only after they were seen: an attempt that begins now has none.
    if (umbilical.statusUpdate(attempt, null).getTaskFound()) {
      return false;
    }
    for (Path pass : passes) {
      fs.delete(pass, false);
    }
    LOG.info("Removed {} passes of {}, which is over", passes.size(), attempt);
    fs.delete(dirs.attempt(attempt), false);
    return true;
  }

  // Follows no link: what is removed are files of these names in a real directory.
  private List<Path> passes(Path directory) throws IOException {
    List<Path> passes = new ArrayList<>();
    if (!fs.isDirectoryItself(directory)) {
      return passes;
    }
    for (FileStatus each : fs.listStatus(directory)) {
      if (each.isFile() && each.getPath().getName().matches(PredictableNames.PASSES)) {
        passes.add(each.getPath());
      }
    }
    return passes;
  }
}
