package org.vas.workloads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
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
    JobConf job = ShuffleProbe.job(configuration(args),
        new org.apache.hadoop.fs.Path(local.resolve("output").toUri()));
    if (!stock) {
      onMount(job, mount, args[1]);
    }
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

  private static void onMount(JobConf job, Path mount, String layout) throws IOException {
    Files.createDirectories(mount.resolve("staging"));
    job.set("fs.lustre.impl", "org.vas.filesystem.LustreFileSystem");
    job.set("vas.lustre.mount", mount.toString());
    job.set("vas.locations", "none");
    job.set("vas.shuffle.layout", layout);
    job.set(MRJobConfig.MAPREDUCE_JOB_DIR, "lustre:///staging");
  }
}
