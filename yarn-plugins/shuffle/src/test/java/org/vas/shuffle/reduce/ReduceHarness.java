package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.serializer.Deserializer;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.Merger;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.lib.NullOutputFormat;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.vas.shuffle.SharedFileSystem;
import org.vas.shuffle.daemon.ModelDaemon;

/** Runs Hadoop's own ReduceTask on map outputs that a test wrote. */
class ReduceHarness {
  final JobConf job = new JobConf();
  final Umbilical umbilical = new Umbilical();
  private final Path jobDir;
  private final int maps;
  private boolean oneProcess;
  // Map, then run, then records as emitted.
  private final Map<Integer, List<List<Rec>>> written = new TreeMap<>();

  ReduceHarness(Path dir, int maps) throws IOException {
    this.maps = maps;
    this.jobDir = Files.createDirectories(dir.resolve("job"));
    SharedFileSystem.configure(job);
    SharedFileSystem.heal();
    job.set(MRJobConfig.MAPREDUCE_JOB_DIR, SharedFileSystem.SCHEME + "://" + jobDir);
    job.set("mapreduce.job.map.output.collector.class", "org.vas.shuffle.map.LustreCollector");
    job.setClass(MRConfig.SHUFFLE_CONSUMER_PLUGIN, LustreMerge.class,
        org.apache.hadoop.mapred.ShuffleConsumerPlugin.class);
    job.set(MRConfig.LOCAL_DIR, dir.resolve("local").toString());
    job.set("hadoop.tmp.dir", dir.resolve("tmp").toString());
    job.setNumReduceTasks(1);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputFormat(NullOutputFormat.class);
    job.setReducerClass(Reducers.Old.class);
    job.set("vas.shuffle.read-size", "64k");
    job.setLong(MRJobConfig.TASK_PROGRESS_REPORT_INTERVAL, 100);
  }

  ReduceHarness newApi() {
    job.setUseNewReducer(true);
    job.setClass(MRJobConfig.REDUCE_CLASS_ATTR, Reducers.New.class,
        org.apache.hadoop.mapreduce.Reducer.class);
    job.setClass(MRJobConfig.OUTPUT_FORMAT_CLASS_ATTR,
        org.apache.hadoop.mapreduce.lib.output.NullOutputFormat.class,
        org.apache.hadoop.mapreduce.OutputFormat.class);
    return this;
  }

  /** As in a job that runs in one process. */
  ReduceHarness oneProcess() {
    oneProcess = true;
    job.unset(MRJobConfig.MAPREDUCE_JOB_DIR);
    return this;
  }

  static TaskAttemptID map(int map, int attempt) {
    return new TaskAttemptID("20260101", 1, TaskType.MAP, map, attempt);
  }

  Path file(TaskAttemptID attempt, String name) {
    return jobDir.resolve("shuffle").resolve(attempt.toString()).resolve(name);
  }

  Path shuffleDir() {
    return jobDir.resolve("shuffle");
  }

  /** Attempt 0 of a map with these runs for partition 0, and its event. */
  ReduceHarness map(int map, List<List<Rec>> runs) throws IOException {
    publish(map(map, 0), runs);
    umbilical.event(map(map, 0), TaskCompletionEvent.Status.SUCCEEDED);
    return this;
  }

  /** An attempt's output, without an event. */
  void publish(TaskAttemptID attempt, List<List<Rec>> runs) throws IOException {
    written.put(attempt.getTaskID().getId(), runs);
    write(attempt, runs);
  }

  /** Writes a map's output where this medium has it. */
  void write(TaskAttemptID attempt, List<List<Rec>> runs) throws IOException {
    MofWriter writer = new MofWriter(job);
    for (int run = 0; run < runs.size(); run++) {
      List<Rec> records = new ArrayList<>(runs.get(run));
      records.sort(order());
      if (!records.isEmpty()) {
        writer.segment(0, run, records);
      }
    }
    writer.publish(attempt);
  }

  @SuppressWarnings("unchecked")
  final Comparator<Rec> order() {
    RawComparator<Object> comparator = job.getOutputKeyComparator();
    return (a, b) -> comparator.compare(a.key(), b.key());
  }

  /** What reduce() has to get: a stable sort of all records in order of maps and runs. */
  @SuppressWarnings("unchecked")
  List<String> expected() {
    List<Rec> all = new ArrayList<>();
    written.values().forEach(runs -> runs.forEach(run -> {
      List<Rec> sorted = new ArrayList<>(run);
      sorted.sort(order());
      all.addAll(sorted);
    }));
    all.sort(order());
    RawComparator<Object> grouping = job.getOutputValueGroupingComparator();
    List<String> groups = new ArrayList<>();
    List<String> group = new ArrayList<>();
    Rec before = null;
    Rec first = null;
    for (Rec each : all) {
      if (before != null && grouping.compare(before.key(), each.key()) != 0) {
        groups.add(String.join(";", group));
        group.clear();
      }
      // The old interface shows the first key of a group for all of it.
      first = group.isEmpty() || job.getUseNewReducer() ? each : first;
      group.add(Reducers.text(first.key(), each.value()));
      before = each;
    }
    if (before != null) {
      groups.add(String.join(";", group));
    }
    return groups;
  }

  /** The keys of what was written, in the order in which Hadoop's own Merger has them. */
  @SuppressWarnings("unchecked")
  List<String> stockKeys() throws IOException {
    FileSystem fs = FileSystem.getLocal(job).getRaw();
    Class<Object> keys = (Class<Object>) job.getMapOutputKeyClass();
    Class<Object> values = (Class<Object>) job.getMapOutputValueClass();
    List<Merger.Segment<Object, Object>> inputs = new ArrayList<>();
    for (List<List<Rec>> runs : written.values()) {
      for (List<Rec> run : runs) {
        org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(
            jobDir.resolveSibling("stock-" + inputs.size()).toString());
        try (FSDataOutputStream out = fs.create(file, true)) {
          IFile.Writer<Object, Object> writer =
              new IFile.Writer<>(job, out, keys, values, null, null);
          run.stream().sorted(order()).forEach(each -> append(writer, each));
          writer.close();
        }
        inputs.add(new Merger.Segment<>(job, fs, file, null, true));
      }
    }
    RawKeyValueIterator merged = Merger.merge(job, fs, keys, values, inputs, 100,
        new org.apache.hadoop.fs.Path(jobDir.resolveSibling("stock").toString()),
        job.getOutputKeyComparator(), Reporter.NULL, null, null, null);
    return texts(merged, new SerializationFactory(job).getDeserializer(keys));
  }

  private static void append(IFile.Writer<Object, Object> writer, Rec record) {
    try {
      writer.append(record.key(), record.value());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> texts(RawKeyValueIterator records, Deserializer<Object> keys)
      throws IOException {
    List<String> texts = new ArrayList<>();
    while (records.next()) {
      keys.open(records.getKey());
      texts.add(keys.deserialize(null).toString());
    }
    return texts;
  }

  /** Runs attempt 0 of reduce 0, which has to see what was written. */
  void check() throws Exception {
    checkAttempt(0);
  }

  void checkAttempt(int attempt) throws Exception {
    List<String> expected = expected();
    List<String> got = run(attempt);
    assertEquals(expected.size(), got.size(), "groups");
    for (int i = 0; i < got.size(); i++) {
      if (!expected.get(i).equals(got.get(i))) {
        fail("group " + i + " of " + got.size() + " differs: " + start(expected.get(i)) + " / "
            + start(got.get(i)));
      }
    }
  }

  private static String start(String text) {
    return text.substring(0, Math.min(200, text.length()));
  }

  /** Runs attempt 0 of reduce 0. */
  List<String> run() throws Exception {
    return run(0);
  }

  List<String> run(int attempt) throws Exception {
    return run(0, attempt);
  }

  /** Runs one attempt; returns the groups that reduce() saw. */
  List<String> run(int partition, int attempt) throws Exception {
    String id = UUID.randomUUID().toString();
    job.set(Reducers.ID, id);
    TaskAttemptID reduce =
        new TaskAttemptID("20260101", 1, TaskType.REDUCE, partition, attempt);
    JobConf conf = new JobConf(job);
    conf.set(MRJobConfig.ID, JobID.downgrade(reduce.getJobID()).toString());
    ReduceTask task = new ReduceTask("job.xml", reduce, partition, maps, 1);
    task.setConf(conf);
    task.localizeConfiguration(conf);
    task.setShuffleSecret(ModelDaemon.secret());
    if (oneProcess) {
      task.setLocalMapFiles(Map.of());
    }
    try {
      task.run(conf, umbilical.protocol());
      return Reducers.take(id);
    } finally {
      Reducers.take(id);
    }
  }

  Counters counters() {
    return umbilical.counters();
  }

  long counter(Enum<?> name) {
    return counters().findCounter(name).getValue();
  }

  long counter(String name) {
    return counters().findCounter(ReduceCounters.GROUP, name).getValue();
  }
}
