package org.apache.spark.shuffle.vas;

import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.util.TaskCompletionListener;

/** An executor's part of the write side. */
final class VasExecutorComponents implements ShuffleExecutorComponents {
  private final SparkConf conf;
  private ApplicationFiles files;

  VasExecutorComponents(SparkConf conf) {
    this.conf = conf;
  }

  @Override
  public void initializeExecutor(String application, String executor, Map<String, String> told) {
    files = ApplicationFiles.of(conf, told);
  }

  /** Makes a writer that leaves nothing when its task ends without a commit. */
  @Override
  public ShuffleMapOutputWriter createMapOutputWriter(int shuffle, long task, int partitions) {
    VasMapOutputWriter writer = new VasMapOutputWriter(
        files, shuffle, task, partitions, conf.getBoolean(VasSparkConf.SYNC, false));
    TaskContext context = TaskContext.get();
    if (context != null) {
      // Spark's sort writer does not abort when it fails.
      context.addTaskCompletionListener(new TaskCompletionListener() {
        @Override
        public void onTaskCompletion(TaskContext ended) {
          writer.abort(null);
        }
      });
    }
    return writer;
  }
}
