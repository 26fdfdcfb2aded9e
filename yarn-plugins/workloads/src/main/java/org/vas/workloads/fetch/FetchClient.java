package org.vas.workloads.fetch;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.security.token.JobTokenSecretManager;

/**
 * {@code FetchClient LOCAL_DIR MAPS REDUCERS PARTITION CONSUMER URL DELIVERY [READ_SIZE]}: runs
 * Hadoop's own ReduceTask up to the end of its merge; DELIVERY is {@code vas.shuffled.delivery},
 * READ_SIZE {@code vas.shuffle.read-size}. Prints {@code ready}; for each line on standard input it
 * fetches and merges the partition once and prints what it read as JSON. Ends when its standard
 * input does.
 */
public final class FetchClient {
  private static final int READ_SIZE = 7;

  private final Path local;
  private final JobConf job;
  private final int maps;
  private final int partition;
  private final String url;

  private FetchClient(String[] args) {
    local = Path.of(args[0]);
    maps = Integer.parseInt(args[1]);
    job = MadeJob.conf(local, maps, Integer.parseInt(args[2]));
    partition = Integer.parseInt(args[3]);
    job.set(CountingConsumer.CONSUMER, args[4]);
    job.setClass(
        MRConfig.SHUFFLE_CONSUMER_PLUGIN, CountingConsumer.class, ShuffleConsumerPlugin.class);
    url = args[5];
    job.set("vas.shuffled.delivery", args[6]);
    if (args.length > READ_SIZE) {
      job.set("vas.shuffle.read-size", args[READ_SIZE]);
    }
  }

  /** Fetches once for each line on standard input. */
  public static void main(String[] args) throws Exception {
    FetchClient client = new FetchClient(args);
    BufferedReader told =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    System.out.println("ready");
    while (told.readLine() != null) {
      System.out.println(client.fetch());
    }
    System.exit(0); // Hadoop leaves threads that are no daemons
  }

  private String fetch() throws Exception {
    TaskAttemptID attempt = MadeJob.reduce(partition);
    AllMapsDone master = new AllMapsDone(maps, url);
    ReduceTask task = new ReduceTask("", attempt, partition, maps, 1);
    task.setShuffleSecret(JobTokenSecretManager.createSecretKey(MadeJob.SECRET));
    JobConf own = new JobConf(job);
    task.localizeConfiguration(own);
    task.setConf(own);
    task.run(own, master.protocol());
    String read = CountingConsumer.last().json();
    removeOutput();
    return String.format("{%s, \"spilled\": %d}", read, master.of(TaskCounter.SPILLED_RECORDS));
  }

  private void removeOutput() throws IOException {
    Path output = MadeJob.directory(local).resolve("output");
    if (Files.exists(output) && !FileUtil.fullyDelete(output.toFile())) {
      throw new IOException(output + " cannot be removed");
    }
  }
}
