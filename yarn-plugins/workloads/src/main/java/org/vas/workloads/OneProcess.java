package org.vas.workloads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.MROutputFiles;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.apache.hadoop.mapreduce.split.JobSplitWriter;
import org.apache.hadoop.mapreduce.split.SplitMetaInfoReader;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Runs all tasks of a job in this process, one after the other, by Hadoop's own MapTask and
 * ReduceTask.
 */
final class OneProcess {
  private static final JobID ID = new JobID("one", 1);

  private final JobConf job;
  private final Path directory;
  private final boolean stock;
  private final Master master = new Master();
  private final Map<TaskAttemptID, MapOutputFile> stockOutputs = new LinkedHashMap<>();

  private OneProcess(JobConf job, Path directory, boolean stock) throws IOException {
    this.job = job;
    this.directory = directory;
    this.stock = stock;
    job.set(MRJobConfig.ID, ID.toString());
    boolean local = job.get(MRJobConfig.MAPREDUCE_JOB_DIR) == null;
    if (local) {
      job.set(MRJobConfig.MAPREDUCE_JOB_DIR, directory.resolve("staging").toUri().toString());
    }
    job.set(MRConfig.FRAMEWORK_NAME, MRConfig.YARN_FRAMEWORK_NAME);
    job.setUser(UserGroupInformation.getCurrentUser().getShortUserName());
    // What a task commits is where the job's output goes.
    job.setInt("mapreduce.fileoutputcommitter.algorithm.version", 2);
    job.setUseNewMapper(job.get("mapred.mapper.class") == null);
    job.setUseNewReducer(job.get("mapred.reducer.class") == null);
    if (!stock) {
      job.set(MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, "org.vas.shuffle.map.LustreCollector");
      job.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, "org.vas.shuffle.reduce.LustreMerge");
      job.setBoolean("vas.shuffle.local-staging", local);
    }
  }

  /**
   * Runs the job in an empty directory, with the output below it that the job names. Map output
   * goes there too, unless the job names a directory of its own.
   *
   * @param stock whether Hadoop's own shuffle is used, and not VAS's
   */
  static Ran run(JobConf job, Path directory, boolean stock) throws Exception {
    OneProcess process = new OneProcess(new JobConf(job), directory, stock);
    int maps = process.maps();
    process.reduces(maps);
    return new Ran(process.master, Path.of(
        job.get("mapreduce.output.fileoutputformat.outputdir").replaceFirst("^file:", "")));
  }

  private int maps() throws Exception {
    org.apache.hadoop.fs.Path submitted =
        new org.apache.hadoop.fs.Path(Files.createDirectories(directory.resolve("staging")).toUri());
    writeSplits(submitted);
    TaskSplitMetaInfo[] splits = SplitMetaInfoReader.readSplitMetaInfo(
        ID, submitted.getFileSystem(job), job, submitted);
    for (int map = 0; map < splits.length; map++) {
      TaskAttemptID attempt = new TaskAttemptID(ID.getJtIdentifier(), 1, TaskType.MAP, map, 0);
      JobConf own = prepare(attempt);
      MapOutputFile output = new MROutputFiles();
      output.setConf(own);
      stockOutputs.put(attempt, output);
      run(new MapTask("", attempt, map, splits[map].getSplitIndex(), 1), own, master.maps);
      master.succeeded(attempt);
    }
    return splits.length;
  }

  private void writeSplits(org.apache.hadoop.fs.Path submitted) throws Exception {
    if (job.getUseNewMapper()) {
      JobContext context = Job.getInstance(job);
      List<org.apache.hadoop.mapreduce.InputSplit> splits = new ArrayList<>(
          ReflectionUtils.newInstance(context.getInputFormatClass(), job).getSplits(context));
      JobSplitWriter.createSplitFiles(submitted, job, submitted.getFileSystem(job), splits);
    } else {
      JobSplitWriter.createSplitFiles(submitted, job, submitted.getFileSystem(job),
          job.getInputFormat().getSplits(job, 1));
    }
  }

  private void reduces(int maps) throws Exception {
    for (int partition = 0; partition < job.getNumReduceTasks(); partition++) {
      TaskAttemptID attempt =
          new TaskAttemptID(ID.getJtIdentifier(), 1, TaskType.REDUCE, partition, 0);
      ReduceTask task = new ReduceTask("", attempt, partition, maps, 1);
      if (stock) {
        task.setLocalMapFiles(stockOutputs);
      }
      run(task, prepare(attempt), master.reduces);
    }
  }

  /** A configuration with a local directory of this attempt's own. */
  private JobConf prepare(TaskAttemptID attempt) {
    JobConf own = new JobConf(job);
    own.set(MRConfig.LOCAL_DIR, directory.resolve("local").resolve(attempt.toString()).toString());
    return own;
  }

  private void run(Task task, JobConf own, Counted counted) throws Exception {
    task.localizeConfiguration(own);
    task.setConf(own);
    task.run(own, master.protocol(counted));
    counted.add();
  }
}
