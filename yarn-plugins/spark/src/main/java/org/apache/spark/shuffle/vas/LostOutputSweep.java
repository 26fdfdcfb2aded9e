package org.apache.spark.shuffle.vas;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.apache.spark.FetchFailed;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks, when a task could not read one map output, for others of the same shuffle that are lost,
 * and unregisters them too. A failed task names one output only, and Spark gives up after a few
 * attempts of a stage: many outputs that are lost at once would fail the job.
 */
final class LostOutputSweep extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(LostOutputSweep.class);

  private final ApplicationFiles files;
  private final MapOutputTrackerMaster tracker;
  private final Executor worker;
  private final Set<Integer> waiting = ConcurrentHashMap.newKeySet();

  /** Makes a sweep that works in the threads of {@code worker}. */
  LostOutputSweep(ApplicationFiles files, MapOutputTrackerMaster tracker, Executor worker) {
    this.files = files;
    this.tracker = tracker;
    this.worker = worker;
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd task) {
    // Hundreds of tasks fail by one output: one sweep answers all that fail before it begins.
    if (task.reason() instanceof FetchFailed failed && failed.mapIndex() >= 0
        && waiting.add(failed.shuffleId())) {
      worker.execute(() -> sweep(failed.shuffleId()));
    }
  }

  private void sweep(int shuffle) {
    waiting.remove(shuffle);
    try {
      // First: a map that is registered after the files are listed has files that are not listed.
      List<MapStatus> registered = registered(shuffle);
      Map<String, Long> lengths = lengths(shuffle);
      for (int map = 0; map < registered.size(); map++) {
        MapStatus status = registered.get(map);
        if (status != null && isLost(shuffle, status.mapId(), lengths)) {
          LOG.warn("{}: the output of map {} is lost too", files.shuffle(shuffle), map);
          tracker.unregisterMapOutput(shuffle, map, status.location());
        }
      }
    } catch (IOException | RuntimeException e) {
      // Spark has been told of one output, and that must do.
      LOG.warn("{}: not looked for other lost outputs", files.shuffle(shuffle), e);
    }
  }

  private boolean isLost(int shuffle, long task, Map<String, Long> lengths) throws IOException {
    try {
      return !files.isWhole(shuffle, task, lengths);
    } catch (IOException e) {
      if (!files.canBeSeen()) {
        throw e;
      }
      LOG.warn("{}: task attempt {}: not known whether its output is lost: {}",
          files.shuffle(shuffle), task, e.getMessage());
      return false;
    }
  }

  private Map<String, Long> lengths(int shuffle) throws IOException {
    try {
      return files.lengths(shuffle);
    } catch (FileNotFoundException e) {
      if (files.canBeSeen()) {
        return Map.of();
      }
      throw e;
    }
  }

  private List<MapStatus> registered(int shuffle) {
    List<MapStatus> found = new ArrayList<>();
    tracker.shuffleStatuses().apply(shuffle).withMapStatuses(statuses -> {
      for (MapStatus each : statuses) {
        found.add(each);
      }
      return found;
    });
    return found;
  }
}
