package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.vas.shuffle.ShuffleConf;
import org.vas.shuffle.merge.MemoryPlan;
import org.vas.shuffle.merge.PassWriter;
import org.vas.shuffle.merge.ReadPool;
import org.vas.shuffle.merge.SegmentReads;
import org.vas.shuffle.mof.JobFormat;
import org.vas.shuffle.mof.ShuffleDirs;
import org.vas.shuffle.mof.ShuffleFiles;

/**
 * The medium of {@link LustreMerge}: map output of LustreCollector in the job's staging directory
 * on the shared file system.
 */
final class LustreMedium implements OutputMedium {
  private final ShuffleConsumerPlugin.Context<?, ?> context;
  private final JobConf job;
  private final TaskAttemptID attempt;
  private final ReduceCounters counters;
  private final ShuffleDirs dirs;
  private final ShuffleFiles fs;
  private final OlderPasses older;
  private ReadPool pool;

  LustreMedium(ShuffleConsumerPlugin.Context<?, ?> context, ReduceCounters counters)
      throws IOException {
    this.context = context;
    this.job = context.getJobConf();
    this.attempt = (TaskAttemptID) context.getReduceId();
    this.counters = counters;
    this.dirs = new ShuffleDirs(job);
    this.fs = new ShuffleFiles(dirs.root().getFileSystem(job), counters::asked);
    this.older = new OlderPasses(
        fs, dirs, context.getUmbilical(), attempt, job.getMaxReduceAttempts());
  }

  @Override
  public SegmentReads reads() {
    counters.reportByThread();
    pool = new ReadPool(ShuffleConf.READ_TIMEOUT.get(job));
    return pool;
  }

  @Override
  public OutputLook look(MemoryPlan memory) {
    // An earlier attempt of this reduce may have failed by what only the checksums show.
    boolean retry = attempt.getId() % LustreMerge.ATTEMPTS_OF_ONE_MASTER > 0;
    int verifyBytes = retry ? Math.toIntExact(ShuffleConf.READ_SIZE.get(job)) : 0;
    Validator validator = new Validator(fs, dirs, JobFormat.of(job), attempt.getTaskID().getId(),
        verifyBytes, memory.toHold(), memory.toLook(), counters);
    return (map, machine, found) ->
        pool.submit(machine, watch -> found.accept(validator.look(map, watch)));
  }

  @Override
  public FileSystem files() {
    return fs;
  }

  @Override
  public Optional<String> whyInReduce() {
    return Optional.empty();
  }

  @Override
  public PassWriter passWriter() {
    return new PassWriter(fs, dirs.attempt(attempt), job, context.getReporter());
  }

  @Override
  public void removeOlderPasses() {
    older.remove();
  }

  @Override
  public void close() {
    if (pool != null) {
      pool.close();
    }
  }
}
