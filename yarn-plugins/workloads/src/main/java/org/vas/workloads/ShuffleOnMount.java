package org.vas.workloads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.vas.workloads.probe.ShuffleProbe;

/**
 * {@code ShuffleOnMount MOUNT LAYOUT LOCAL [KEY=VALUE...]}: runs a probe's job in this process,
 * whose map output VAS's collector writes below a directory of Lustre and VAS's merge reads from
 * there. LAYOUT is packed or per-reducer, or stock for the same job with Hadoop's own shuffle below
 * LOCAL, an empty directory. The keys are those of the job.
 *
 * <p>Prints the digests of the output, the records and the files of map output as one line of JSON.
 */
public final class ShuffleOnMount {
  private static final String STOCK = "stock";
  private static final int SORT_MB = 8;

  private ShuffleOnMount() {}

  /** Runs the job, and prints the result. */
  public static void main(String[] args) throws Exception {
    if (args.length < 3) {
      System.err.println("usage: ShuffleOnMount MOUNT LAYOUT LOCAL [KEY=VALUE...]");
      System.exit(2);
    }
    Path mount = Path.of(args[0]).toRealPath();
    Path local = Path.of(args[2]).toRealPath();
    boolean stock = args[1].equals(STOCK);
    // Complete before the first use, as a file system keeps the mount that it was made with.
    Configuration conf = configuration(args);
    if (stock) {
      byHadoop(conf);
    } else {
      onMount(conf, mount, args[1]);
    }
    JobConf job = ShuffleProbe.job(
        conf, new org.apache.hadoop.fs.Path(local.resolve("output").toUri()));
    Ran ran = OneProcess.run(job, local, stock);
    System.out.println("{\"output\": \"" + ran.output() + "\", \"records\": "
        + ran.of(TaskCounter.MAP_OUTPUT_RECORDS) + ", \"reduced\": "
        + ran.of(TaskCounter.REDUCE_INPUT_RECORDS) + ", \"files\": "
        + ran.maps.ours("FILES_CREATED") + "}");
  }

  private static Configuration configuration(String[] args) {
    Configuration conf = new Configuration();
    conf.setInt(MRJobConfig.IO_SORT_MB, SORT_MB);
    for (int i = 3; i < args.length; i++) {
      int end = args[i].indexOf('=');
      conf.set(args[i].substring(0, end), args[i].substring(end + 1));
    }
    return conf;
  }

  /** Names Hadoop's own collector and reader: a site's configuration names VAS's. */
  private static void byHadoop(Configuration conf) {
    conf.set(MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR, MapTask.MapOutputBuffer.class.getName());
    conf.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, Shuffle.class.getName());
  }

  private static void onMount(Configuration conf, Path mount, String layout) throws IOException {
    Files.createDirectories(mount.resolve("staging"));
    conf.set("fs.lustre.impl", "org.vas.filesystem.LustreFileSystem");
    conf.set("vas.lustre.mount", mount.toString());
    conf.set("vas.locations", "none");
    conf.set("vas.shuffle.layout", layout);
    conf.set(MRJobConfig.MAPREDUCE_JOB_DIR, "lustre:///staging");
  }
}
