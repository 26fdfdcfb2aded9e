package org.vas.shuffle.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.vas.shuffle.model.ModelTrees;

/**
 * Applies the janitor's rule, as {@code vas shuffle gc} has it in Python: a job's output that is
 * over for longer than the grace goes into quarantine, and is removed for good after another grace.
 */
final class SiteJanitor {
  /** Milliseconds. */
  static final int GRACE = 100;

  private final boolean unknownIsNotOver;
  private final Path quarantine;
  private final Map<String, Long> remembered = new HashMap<>();
  private final Map<String, Long> moved = new HashMap<>();

  SiteJanitor(Path staging, boolean unknownIsNotOver) {
    this.quarantine = staging.resolve(".vas-janitor");
    this.unknownIsNotOver = unknownIsNotOver;
  }

  /** @param assumeOver whether what nobody knows counts as over: the explicit age has passed */
  void sweep(List<SiteJob> jobs, Path mount, long now, boolean assumeOver) throws IOException {
    for (SiteJob job : jobs) {
      Path directory = mount.resolve(job.staging().substring(1));
      if (Files.isDirectory(directory) && isOverSince(job, now, assumeOver) + GRACE <= now) {
        Files.createDirectories(quarantine);
        Files.move(directory, quarantine.resolve(job.name()));
        moved.put(job.name(), now);
      }
    }
    for (String name : List.copyOf(moved.keySet())) {
      if (now - moved.get(name) >= GRACE) {
        ModelTrees.remove(quarantine.resolve(name));
        moved.remove(name);
      }
    }
  }

  private long isOverSince(SiteJob job, long now, boolean assumeOver) {
    if (job.doubted && !assumeOver) {
      return Long.MAX_VALUE / 2;
    }
    boolean unknown = job.forgotten || job.doubted;
    if (!unknown && job.isOver()) {
      remembered.put(job.name(), job.ended);
    } else if (unknown && !unknownIsNotOver) {
      remembered.putIfAbsent(job.name(), now);
    }
    if (unknown && assumeOver) {
      return now - GRACE;
    }
    return remembered.getOrDefault(job.name(), Long.MAX_VALUE / 2);
  }
}
