package org.vas.workloads;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringTokenizer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.SecondarySort;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.vas.workloads.heavy.AdjacencyList;
import org.vas.workloads.heavy.InvertedIndex;
import org.vas.workloads.heavy.SelfJoin;
import org.vas.workloads.heavy.SequenceCount;
import org.vas.workloads.probe.ShuffleProbe;
import org.vas.workloads.tool.OneJob;

/** The jobs that are compared, by name. */
final class Programs {
  /** Makes the job; input, if it needs any, and output are below the directory. */
  interface Program {
    JobConf job(Path directory) throws Exception;
  }

  // Stock takes all of it at once, for each map.
  private static final int SORT_MB = 8;
  private static final int HEAVY_BYTES = 100_000;
  private static final Map<String, Program> ALL = new LinkedHashMap<>();

  static {
    ALL.put("WordCount", directory -> wordCount(directory, false));
    ALL.put("WordCount, combiner", directory -> wordCount(directory, true));
    ALL.put("SecondarySort", Programs::secondarySort);
    ALL.put("TeraSort", Programs::teraSort);
    ALL.put("Sort", Programs::sort);
    ALL.put("SelfJoin", directory -> heavy(new SelfJoin(), "associations", directory));
    ALL.put("InvertedIndex", directory -> heavy(new InvertedIndex(), "documents", directory));
    ALL.put("SequenceCount", directory -> heavy(new SequenceCount(), "documents", directory));
    ALL.put("AdjacencyList", directory -> heavy(new AdjacencyList(), "edges", directory));
    shape("plain", "");
    shape("one reducer", "job.reduces=1");
    shape("empty maps and partitions", "records=50 keys=6 every-nth-map-is-empty=2 job.reduces=20");
    shape("nothing at all", "records=0");
    shape("several runs", "records=30000 task.io.sort.mb=1");
    shape("more runs than a map may leave",
        "records=40000 task.io.sort.mb=1 vas.shuffle.max-runs=2");
    shape("comparators", "grouped=true");
    shape("comparators, several runs", "grouped=true records=30000 task.io.sort.mb=1");
    shape("combiner", "combine=true keys=300");
    shape("combiner, several runs", "combine=true keys=300 records=30000 task.io.sort.mb=1");
    shape("skew", "skew-percent=90");
    shape("equal keys, several runs", "keys=1 records=30000 task.io.sort.mb=1");
    shape("a record larger than the buffer",
        "records=1 value-bytes=4m least-value-bytes=4m task.io.sort.mb=1");
    shape("the same, combiner",
        "combine=true records=1 value-bytes=4m least-value-bytes=4m task.io.sort.mb=1");
  }

  private Programs() {}

  static Iterable<String> names() {
    return ALL.keySet();
  }

  static JobConf job(String name, Path directory) throws Exception {
    return ALL.get(name).job(directory);
  }

  /** Most have a few records, some have none. */
  static JobConf fiveHundredReducers(Path directory) throws IOException {
    return ShuffleProbe.job(
        shape("records=600 keys=800 job.reduces=500 maps=2"), output(directory));
  }

  /** A probe of both APIs. */
  private static void shape(String name, String words) {
    for (boolean old : new boolean[] {false, true}) {
      Configuration conf = shape(words);
      conf.setBoolean("probe.old-api", old);
      ALL.put(name + (old ? ", old API" : ""),
          directory -> ShuffleProbe.job(conf, output(directory)));
    }
  }

  /** A probe's shape; words with a dot are MapReduce's, or ours. */
  private static Configuration shape(String words) {
    Configuration conf = new Configuration();
    conf.setInt(MRJobConfig.IO_SORT_MB, SORT_MB);
    conf.setInt(MRJobConfig.NUM_REDUCES, 3);
    conf.setInt("probe.maps", 3);
    conf.setInt("probe.records", 2000);
    for (StringTokenizer rest = new StringTokenizer(words, "= "); rest.hasMoreTokens();) {
      conf.set(key(rest.nextToken()), rest.nextToken());
    }
    return conf;
  }

  private static String key(String word) {
    if (word.startsWith("vas.")) {
      return word;
    }
    return (word.contains(".") ? "mapreduce." : "probe.") + word;
  }

  private static org.apache.hadoop.fs.Path output(Path directory) {
    return new org.apache.hadoop.fs.Path(directory.resolve("output").toUri());
  }

  private static Job reading(Path input, Path directory) throws IOException {
    Job job = Job.getInstance(new Configuration());
    job.getConfiguration().setInt(MRJobConfig.IO_SORT_MB, SORT_MB);
    job.setNumReduceTasks(3);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(input.toUri()));
    FileOutputFormat.setOutputPath(job, output(directory));
    return job;
  }

  private static JobConf heavy(OneJob program, String kind, Path directory) throws Exception {
    Configuration conf = new Configuration();
    conf.setInt(MRJobConfig.IO_SORT_MB, SORT_MB);
    conf.setInt(MRJobConfig.NUM_REDUCES, 3);
    program.setConf(conf);
    Path input = Generated.files(kind, HEAVY_BYTES, 1, directory);
    Job job = program.job(new org.apache.hadoop.fs.Path(input.toUri()), output(directory));
    return new JobConf(job.getConfiguration());
  }

  private static JobConf wordCount(Path directory, boolean combine) throws IOException {
    Job job = reading(Inputs.words(directory.resolve("input")), directory);
    job.setMapperClass(TokenCounterMapper.class);
    if (combine) {
      job.setCombinerClass(IntSumReducer.class);
    }
    job.setReducerClass(IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    return new JobConf(job.getConfiguration());
  }

  private static JobConf secondarySort(Path directory) throws IOException {
    Job job = reading(Inputs.pairs(directory.resolve("input")), directory);
    job.setMapperClass(SecondarySort.MapClass.class);
    job.setPartitionerClass(SecondarySort.FirstPartitioner.class);
    job.setGroupingComparatorClass(SecondarySort.FirstGroupingComparator.class);
    job.setReducerClass(SecondarySort.Reduce.class);
    job.setMapOutputKeyClass(SecondarySort.IntPair.class);
    job.setMapOutputValueClass(IntWritable.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    return new JobConf(job.getConfiguration());
  }

  private static JobConf teraSort(Path directory) throws IOException {
    Job job = reading(Inputs.rows(directory.resolve("input")), directory);
    job.setInputFormatClass(TeraInputFormat.class);
    job.setPartitionerClass(TeraSort.SimplePartitioner.class);
    job.setOutputFormatClass(TeraOutputFormat.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    return new JobConf(job.getConfiguration());
  }

  private static JobConf sort(Path directory) throws IOException {
    Job job = reading(Inputs.keysAndValues(directory.resolve("input")), directory);
    job.setInputFormatClass(KeyValueTextInputFormat.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    return new JobConf(job.getConfiguration());
  }
}
