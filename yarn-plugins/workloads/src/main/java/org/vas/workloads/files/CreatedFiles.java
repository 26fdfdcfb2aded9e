package org.vas.workloads.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.lib.NullOutputFormat;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * {@code CreatedFiles MAPS REDUCERS LAYOUT DIRECTORY}: runs Hadoop's own MapTask with VAS's
 * collector, one attempt after another in this process. Every attempt has a record for each
 * reducer.
 *
 * <p>Prints the number of map attempts, of the files that are on the disk after each of them,
 * summed up, and of the files that the tasks' counters name. An attempt's files are removed once
 * they are counted.
 */
public final class CreatedFiles {
  private static final String COLLECTOR = "org.vas.shuffle.map.LustreCollector";
  private static final String CONSUMER = "org.vas.shuffle.reduce.LustreMerge";
  private static final int SORT_MB = 8;

  private CreatedFiles() {}

  /** Runs the attempts, and prints the counts as one JSON object. */
  public static void main(String[] args) throws Exception {
    if (args.length != 4) {
      System.err.println("usage: CreatedFiles MAPS REDUCERS LAYOUT DIRECTORY");
      System.exit(2);
    }
    int maps = Integer.parseInt(args[0]);
    Path directory = Path.of(args[3]);
    JobConf job = job(Integer.parseInt(args[1]), args[2], directory);
    long found = 0;
    long counted = 0;
    for (int map = 0; map < maps; map++) {
      counted += new OneMap(job, map).run();
      found += countAndRemove(directory.resolve("staging/shuffle"));
    }
    System.out.printf("{\"maps\": %d, \"files\": %d, \"counted\": %d}%n", maps, found, counted);
  }

  private static JobConf job(int reducers, String layout, Path directory) throws IOException {
    JobConf job = new JobConf();
    Files.createDirectories(directory.resolve("staging"));
    // The product's own file system, on a directory that is no Lustre.
    job.set("fs.lustre.impl", "org.vas.filesystem.LustreFileSystem");
    job.set("vas.lustre.mount", directory.toRealPath().toString());
    job.set("vas.layout.required", "false");
    job.set(MRJobConfig.MAPREDUCE_JOB_DIR, "lustre:///staging");
    job.set("vas.shuffle.layout", layout);
    job.set(MRConfig.FRAMEWORK_NAME, MRConfig.YARN_FRAMEWORK_NAME);
    job.set(MRConfig.LOCAL_DIR, directory.resolve("local").toString());
    job.set(MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, COLLECTOR);
    job.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, CONSUMER);
    job.setInt(MRJobConfig.IO_SORT_MB, SORT_MB);
    job.setNumReduceTasks(reducers);
    job.setMapOutputKeyClass(IntWritable.class);
    job.setMapOutputValueClass(NullWritable.class);
    job.setMapperClass(OneEach.class);
    job.setOutputFormat(NullOutputFormat.class);
    return job;
  }

  private static long countAndRemove(Path shuffle) throws IOException {
    try (var tree = Files.walk(shuffle)) {
      return tree.filter(Files::isRegularFile).count();
    } finally {
      FileUtil.fullyDelete(shuffle.toFile());
    }
  }
}
