package org.vas.shuffle.map;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitIndex;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.mof.MetadataOperation;
import org.vas.shuffle.mof.ShuffleDirs;

/** Runs Hadoop's own MapTask once in this process. */
public final class MapRun {
  static final TaskAttemptID ATTEMPT =
      new TaskAttemptID("1", 1, TaskType.MAP, 7, 0);

  private final JobConf job;
  private Counters counters = new Counters();

  private MapRun(JobConf job) {
    this.job = job;
  }

  /** A job of Text keys and IntWritable values, its staging directory in this directory. */
  public static JobConf job(Path directory) throws IOException {
    JobConf job = new JobConf();
    SharedFileSystem.configure(job);
    Path staging = Files.createDirectories(directory.resolve("staging"));
    job.set(MRJobConfig.MAPREDUCE_JOB_DIR, SharedFileSystem.SCHEME + ":" + staging);
    job.set(MRConfig.FRAMEWORK_NAME, MRConfig.YARN_FRAMEWORK_NAME);
    job.set(MRConfig.LOCAL_DIR, directory.resolve("local").toString());
    job.set("mapreduce.job.map.output.collector.class", LustreCollector.class.getName());
    job.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, "org.vas.shuffle.reduce.LustreMerge");
    job.setInt(MRJobConfig.IO_SORT_MB, 16);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(IntWritable.class);
    useNewApi(job);
    return job;
  }

  static void useNewApi(JobConf job) {
    job.setUseNewMapper(true);
    job.setClass(MRJobConfig.INPUT_FORMAT_CLASS_ATTR, Emitter.NewInput.class,
        org.apache.hadoop.mapreduce.InputFormat.class);
    job.setClass(MRJobConfig.MAP_CLASS_ATTR, Emitter.NewMapper.class,
        org.apache.hadoop.mapreduce.Mapper.class);
    job.setClass(MRJobConfig.OUTPUT_FORMAT_CLASS_ATTR, NullOutputFormat.class,
        org.apache.hadoop.mapreduce.OutputFormat.class);
  }

  static void useOldApi(JobConf job) {
    job.setUseNewMapper(false);
    job.setInputFormat(Emitter.OldInput.class);
    job.setMapperClass(Emitter.OldMapper.class);
    job.setOutputFormat(org.apache.hadoop.mapred.lib.NullOutputFormat.class);
  }

  /** Runs the map to its end. */
  static MapRun of(JobConf configured, Emitter.Script script) throws Exception {
    return of(configured, ATTEMPT, script);
  }

  /** Runs that attempt of a map to its end. */
  public static MapRun of(JobConf configured, TaskAttemptID attempt, Emitter.Script script)
      throws Exception {
    return of(configured, Path.of(configured.get(MRConfig.LOCAL_DIR)), attempt, script);
  }

  /** Runs an attempt whose split lies in a directory of its own: the job may have several disks. */
  static MapRun of(JobConf configured, Path splits, TaskAttemptID attempt, Emitter.Script script)
      throws Exception {
    JobConf job = new JobConf(configured);
    Emitter.configure(job, script);
    Path local = Files.createDirectories(splits);
    Path split = Files.createTempFile(local, "split", "");
    writeSplit(job, split);
    MapTask task = new MapTask(split.toString(), attempt, attempt.getTaskID().getId(),
        new TaskSplitIndex(split.toUri().toString(), 0), 1);
    job.setUser(UserGroupInformation.getCurrentUser().getShortUserName());
    task.localizeConfiguration(job);
    task.setConf(job);
    MapRun run = new MapRun(job);
    task.run(job, run.umbilical());
    return run;
  }

  /** Runs the map with stock's collector. */
  static MapRun stock(JobConf job, Emitter.Script script) throws Exception {
    JobConf stock = new JobConf(job);
    stock.setClass("mapreduce.job.map.output.collector.class", MapTask.MapOutputBuffer.class,
        Object.class);
    return of(stock, script);
  }

  static void compress(JobConf job, String codec) {
    Map<String, Class<? extends CompressionCodec>> codecs =
        Map.of("default", DefaultCodec.class, "gzip", GzipCodec.class, "bzip2", BZip2Codec.class);
    if (codecs.containsKey(codec)) {
      job.setMapOutputCompressorClass(codecs.get(codec));
    }
  }

  public static void encrypt(JobConf job) throws IOException {
    job.setBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, true);
    Credentials credentials = new Credentials();
    TokenCache.setEncryptedSpillKey("0123456789abcdef".getBytes(
        StandardCharsets.US_ASCII), credentials);
    UserGroupInformation.getCurrentUser().addCredentials(credentials);
  }

  JobConf job() {
    return job;
  }

  /** The task's counter of this enum. */
  long counter(Enum<?> name) {
    return counters.findCounter(name).getCounter();
  }

  long operations(MetadataOperation operation) {
    return counters.findCounter(MetadataOperation.GROUP, operation.name()).getCounter();
  }

  /** The task's counter of our group. */
  long counter(String name) {
    return counters.findCounter(MetadataOperation.GROUP, name).getCounter();
  }

  /** The attempt's directory on the local disk. */
  static Path directory(JobConf job) throws IOException {
    return Path.of(new ShuffleDirs(job).attempt(ATTEMPT).toUri().getPath());
  }

  private static void writeSplit(Configuration conf, Path file) throws IOException {
    try (FSDataOutputStream out = FileSystem.getLocal(conf)
        .create(new org.apache.hadoop.fs.Path(file.toUri()), true)) {
      Text.writeString(out, Emitter.NoSplit.class.getName());
    }
  }

  private TaskUmbilicalProtocol umbilical() {
    return (TaskUmbilicalProtocol) Proxy.newProxyInstance(MapRun.class.getClassLoader(),
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
