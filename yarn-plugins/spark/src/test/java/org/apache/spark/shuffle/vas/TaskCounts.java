package org.apache.spark.shuffle.vas;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Counts the tasks of each stage that succeeded, and remembers why others failed. */
final class TaskCounts extends SparkListener {
  private final SparkContext context;
  private final Map<String, Integer> succeeded = new TreeMap<>();
  private final Map<String, Integer> failed = new TreeMap<>();

  private TaskCounts(SparkContext context) {
    this.context = context;
  }

  static TaskCounts of(SparkContext context) {
    TaskCounts counts = new TaskCounts(context);
    context.addSparkListener(counts);
    return counts;
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd task) {
    String stage = task.taskType() + " " + task.stageId() + "." + task.stageAttemptId();
    if (task.taskInfo().successful()) {
      succeeded.merge(stage, 1, Integer::sum);
    } else {
      failed.merge(stage + " " + task.reason().getClass().getSimpleName(), 1, Integer::sum);
    }
  }

  /** Returns the tasks that succeeded by type, stage and attempt of the stage. */
  Map<String, Integer> succeeded() throws Exception {
    context.listenerBus().waitUntilEmpty();
    synchronized (this) {
      return new TreeMap<>(succeeded);
    }
  }

  /** Returns the tasks that did not succeed by type, stage, attempt of the stage and reason. */
  Map<String, Integer> failed() throws Exception {
    context.listenerBus().waitUntilEmpty();
    synchronized (this) {
      return new TreeMap<>(failed);
    }
  }
}
