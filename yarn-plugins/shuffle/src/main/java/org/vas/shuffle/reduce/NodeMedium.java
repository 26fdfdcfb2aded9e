package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRConfig;
import org.vas.shuffle.daemon.DaemonLinks;
import org.vas.shuffle.daemon.NodeFiles;
import org.vas.shuffle.merge.MemoryPlan;
import org.vas.shuffle.merge.PassWriter;
import org.vas.shuffle.mof.ShuffleFiles;

/** Stock's map output on the disks of the nodes where the maps ran. Passes go to this node's. */
final class NodeMedium implements OutputMedium {
  private static final String PASSES = "vas-passes";

  private final ShuffleConsumerPlugin.Context<?, ?> context;
  private final JobConf job;
  private final TaskAttemptID attempt;
  private final ReduceCounters counters;
  private final DaemonLinks links;
  private final ShuffleFiles local;
  private final NodeFiles files;

  NodeMedium(ShuffleConsumerPlugin.Context<?, ?> context, ReduceCounters counters)
      throws IOException {
    this.context = context;
    this.job = context.getJobConf();
    this.attempt = (TaskAttemptID) context.getReduceId();
    this.counters = counters;
    this.links = new DaemonLinks(
        job, attempt.getJobID(), context.getReduceTask().getShuffleSecret());
    this.local = new ShuffleFiles(FileSystem.getLocal(job), counters::asked);
    this.files = new NodeFiles(local, links);
  }

  @Override
  public OutputLook look(MemoryPlan memory) throws IOException {
    Optional<CipherCheck> cipher = CryptoUtils.isEncryptedSpillEnabled(job)
        ? Optional.of(new CipherCheck(files, job, counters, memory.toLook())) : Optional.empty();
    return new NodeLook(links, attempt.getTaskID().getId(), cipher, memory.toHold());
  }

  @Override
  public FileSystem files() {
    return files;
  }

  /** Chooses a local directory with room; the NodeManager removes it with the application. */
  @Override
  public PassWriter passWriter() throws IOException {
    Path directory = new LocalDirAllocator(MRConfig.LOCAL_DIR)
        .getLocalPathForWrite(PASSES + "/" + attempt, job);
    return new PassWriter(local, directory, job, context.getReporter());
  }

  /** Does nothing: an earlier attempt's passes may be on another node, which knows the job's end. */
  @Override
  public void removeOlderPasses() {}

  @Override
  public void close() {
    links.close();
  }
}
