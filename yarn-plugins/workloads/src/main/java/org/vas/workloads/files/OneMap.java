package org.vas.workloads.files;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitIndex;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Runs one map attempt by Hadoop's MapTask, and keeps the counters that it reports to its master.
 */
final class OneMap {
  private static final String GROUP = "VAS shuffle";
  private static final String CREATED = "FILES_CREATED";

  private final JobConf job;
  private final int number;
  private Counters counters = new Counters();

  OneMap(JobConf job, int number) {
    this.job = new JobConf(job);
    this.number = number;
  }

  /** Runs the attempt to its end; returns how many files its counters say that it created. */
  long run() throws Exception {
    Path local = Files.createDirectories(Path.of(job.get(MRConfig.LOCAL_DIR)));
    Path split = local.resolve("split");
    writeSplit(Files.writeString(local.resolve("input"), "\n"), split);
    MapTask task = new MapTask(split.toString(),
        new TaskAttemptID("1", 1, TaskType.MAP, number, 0), number,
        new TaskSplitIndex(split.toUri().toString(), 0), 1);
    job.setUser(UserGroupInformation.getCurrentUser().getShortUserName());
    task.localizeConfiguration(job);
    task.setConf(job);
    task.run(job, umbilical());
    return counters.findCounter(GROUP, CREATED).getCounter();
  }

  private void writeSplit(Path input, Path file) throws IOException {
    String[] nowhere = {};
    FileSplit split =
        new FileSplit(new org.apache.hadoop.fs.Path(input.toUri()), 0, 1, nowhere);
    try (FSDataOutputStream out = FileSystem.getLocal(job)
        .create(new org.apache.hadoop.fs.Path(file.toUri()), true)) {
      Text.writeString(out, FileSplit.class.getName());
      split.write(out);
    }
  }

  private TaskUmbilicalProtocol umbilical() {
    return (TaskUmbilicalProtocol) Proxy.newProxyInstance(OneMap.class.getClassLoader(),
        new Class<?>[] {TaskUmbilicalProtocol.class}, (proxy, method, arguments) -> {
          if (method.getName().equals("statusUpdate") && arguments[1] != null) {
            counters = ((TaskStatus) arguments[1]).getCounters();
          }
          if (method.getReturnType() == AMFeedback.class) {
            AMFeedback feedback = new AMFeedback();
            feedback.setTaskFound(true);
            return feedback;
          }
          return method.getReturnType() == boolean.class ? Boolean.TRUE : null;
        });
  }
}
