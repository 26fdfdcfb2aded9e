package org.vas.filesystem;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.committer.manifest.ManifestCommitter;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.ToolRunner;

/**
 * Commits a job's output by one of Hadoop's committers: "1" or "2" (FileOutputCommitter's
 * algorithms) or "manifest".
 */
final class Committing {
  static final int TASKS = 6;
  private static final JobID JOB = new JobID("1700000000000", 1);
  private static final Path OUTPUT = new Path("/output");

  private final Configuration conf;
  private final String committer;

  Committing(Configuration conf, String committer) {
    this.conf = new Configuration(conf);
    this.committer = committer;
    this.conf.set("mapreduce.fileoutputcommitter.algorithm.version",
        committer.equals("manifest") ? "1" : committer);
    this.conf.set("mapreduce.output.fileoutputformat.outputdir", OUTPUT.toString());
  }

  /** In a process of its own: MOUNT then a committer, or "put" and a local file. */
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", TestMount.ROOT_URI.toString());
    conf.set("vas.lustre.mount", args[0]);
    if (args[1].equals("put")) {
      System.exit(ToolRunner.run(conf, new FsShell(), new String[] {"-put", args[2], "/put"}));
    }
    new Committing(conf, args[1]).job(1);
  }

  /** The name of a task's output. */
  static String part(int task) {
    return String.format("part-r-%05d", task);
  }

  /**
   * Runs a job whose tasks commit at once.
   *
   * @param attempts of each task, all of which commit, as they may not
   * @return how many attempts were told that they had committed, by task
   */
  List<Integer> job(int attempts) throws Exception {
    PathOutputCommitter own = committer(context(0, 0));
    own.setupJob(context(0, 0));
    List<Callable<Boolean>> commits = new ArrayList<>();
    for (int task = 0; task < TASKS; task++) {
      for (int attempt = 0; attempt < attempts; attempt++) {
        commits.add(written(task, attempt));
      }
    }
    List<Boolean> done = together(commits);
    own.commitJob(new JobContextImpl(conf, JOB));
    List<Integer> committed = new ArrayList<>();
    for (int task = 0; task < TASKS; task++) {
      committed.add((int) done.subList(task * attempts, (task + 1) * attempts).stream()
          .filter(won -> won).count());
    }
    return committed;
  }

  /** An attempt that has written its file; what is returned commits it. */
  private Callable<Boolean> written(int task, int attempt) throws IOException {
    TaskAttemptContext context = context(task, attempt);
    PathOutputCommitter its = committer(context);
    its.setupTask(context);
    FileSystem files = OUTPUT.getFileSystem(conf);
    try (FSDataOutputStream out = files.create(new Path(its.getWorkPath(), part(task)))) {
      out.write(("task " + task + " attempt " + attempt).getBytes(StandardCharsets.UTF_8));
    }
    return () -> {
      try {
        its.commitTask(context);
        return true;
      } catch (IOException lost) {
        return false;
      }
    };
  }

  private PathOutputCommitter committer(TaskAttemptContext context) throws IOException {
    return committer.equals("manifest")
        ? new ManifestCommitter(OUTPUT, context) : new FileOutputCommitter(OUTPUT, context);
  }

  private TaskAttemptContext context(int task, int attempt) {
    return new TaskAttemptContextImpl(
        conf, new TaskAttemptID(new TaskID(JOB, TaskType.REDUCE, task), attempt));
  }

  private static List<Boolean> together(List<Callable<Boolean>> calls) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(calls.size());
    try {
      List<Boolean> answers = new ArrayList<>();
      for (Future<Boolean> answer : threads.invokeAll(calls)) {
        answers.add(answer.get());
      }
      return answers;
    } finally {
      threads.shutdownNow();
    }
  }
}
