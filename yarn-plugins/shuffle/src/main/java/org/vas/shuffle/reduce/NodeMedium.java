package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.daemon.DaemonReads;
import org.vas.shuffle.daemon.PartitionToMerge;
import org.vas.shuffle.daemon.MergedStream;
import org.vas.shuffle.merge.Chunks;
import org.vas.shuffle.merge.MemoryPlan;
import org.vas.shuffle.merge.PassWriter;
import org.vas.shuffle.merge.RecordCursor;
import org.vas.shuffle.merge.SegmentOpener;
import org.vas.shuffle.merge.SegmentReads;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.ShuffleFiles;

/**
 * The medium of {@link NodeMerge}: stock's map output on the disks of the nodes where the maps ran.
 * Passes go to this node's disks.
 */
final class NodeMedium implements OutputMedium {
  private static final Logger LOG = LoggerFactory.getLogger(NodeMedium.class);
  private static final String PASSES = "vas-passes";

  private final ShuffleConsumerPlugin.Context<?, ?> context;
  private final JobConf job;
  private final TaskAttemptID attempt;
  private final ReduceCounters counters;
  private final ShuffleFiles local;
  private final Delivery delivery;
  private DaemonReads reads;

  NodeMedium(ShuffleConsumerPlugin.Context<?, ?> context, ReduceCounters counters)
      throws IOException {
    this.context = context;
    this.job = context.getJobConf();
    this.attempt = (TaskAttemptID) context.getReduceId();
    this.counters = counters;
    this.local = new ShuffleFiles(FileSystem.getLocal(job), counters::asked);
    this.delivery = Delivery.of(job, context.getCodec(), attempt.getId());
    if (delivery.isAsked() && !delivery.isMerged()) {
      LOG.info("The daemon gives segments, and does not merge: {}", delivery.whySegments());
    }
  }

  @Override
  public SegmentReads reads() throws IOException {
    reads = new DaemonReads(job, attempt.getJobID(), context.getReduceTask().getShuffleSecret(),
        counters::report);
    return reads;
  }

  @Override
  public OutputLook look(MemoryPlan memory) throws IOException {
    Optional<CipherCheck> cipher = CryptoUtils.isEncryptedSpillEnabled(job)
        ? Optional.of(new CipherCheck(this::stored, job, counters, memory.toLook()))
        : Optional.empty();
    // What the daemon merges it fetches itself.
    long toHold = delivery.isMerged() ? 0 : memory.toHold();
    return new NodeLook(reads, attempt.getTaskID().getId(), cipher, toHold);
  }

  @Override
  public Optional<RecordCursor> merged(List<SegmentFile> segments) throws IOException {
    if (!delivery.isMerged() || segments.isEmpty()) {
      return Optional.empty();
    }
    PartitionToMerge wanted = new PartitionToMerge(job, attempt,
        context.getReduceTask().getShuffleSecret(), delivery.order(), delivery.codec(), segments);
    try {
      MergedStream stream = MergedStream.open(wanted, counters, context.getReporter());
      LOG.info("The daemon merges {} segments", segments.size());
      counters.mergedByDaemon(segments.size());
      return Optional.of(new RecordCursor("the merged records of " + attempt, stream,
          Segment.UNCOUNTED, wanted.streamBytes()));
    } catch (MergedStream.DeclinedException e) {
      LOG.info("The daemon gives segments, and does not merge: {}", e.getMessage());
      return Optional.empty();
    }
  }

  private Chunks stored(SegmentFile segment, int bufferBytes) {
    return SegmentOpener.stored(
        local, segment, counters, reads, context.getReporter(), bufferBytes);
  }

  /** Returns the local file system, which opens passes: the daemon reads segments of maps. */
  @Override
  public FileSystem files() {
    return local;
  }

  @Override
  public Optional<String> whyInReduce() {
    return Optional.of("one thread beside that of reduce() reads, and none merges");
  }

  /**
   * Returns a writer into a local directory with room; the NodeManager removes it with the
   * application.
   */
  @Override
  public PassWriter passWriter() throws IOException {
    Path directory = new LocalDirAllocator(MRConfig.LOCAL_DIR)
        .getLocalPathForWrite(PASSES + "/" + attempt, job);
    return new PassWriter(local, directory, job, context.getReporter());
  }

  /**
   * Does nothing: an earlier attempt's passes may be on another node, whose NodeManager removes
   * them when the job ends.
   */
  @Override
  public void removeOlderPasses() {}

  @Override
  public void close() {
    if (reads != null) {
      reads.close();
    }
  }
}
