package org.vas.shuffle.reduce;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.apache.hadoop.mapreduce.util.MRJobConfUtil;
import org.apache.hadoop.util.Progress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.ShuffleConf;
import org.vas.shuffle.Switches;
import org.vas.shuffle.merge.BatchedRecords;
import org.vas.shuffle.merge.Conservation;
import org.vas.shuffle.merge.MemoryPlan;
import org.vas.shuffle.merge.Merge;
import org.vas.shuffle.merge.MergedRecords;
import org.vas.shuffle.merge.OrderCheck;
import org.vas.shuffle.merge.PassWriter;
import org.vas.shuffle.merge.Passes;
import org.vas.shuffle.merge.ReadPool;
import org.vas.shuffle.merge.SegmentOpener;
import org.vas.shuffle.mof.JobFormat;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.ShuffleDirs;
import org.vas.shuffle.mof.ShuffleFiles;
import org.vas.shuffle.order.KeyOrder;

/**
 * Merges the outputs of all maps from where they were written into reduce(). For
 * {@code mapreduce.job.reduce.shuffle.consumer.plugin.class}; the stages are in docs/shuffle.md. In
 * a job that runs in one process, or is switched off, outputs are stock's, and so is this.
 *
 * @param <K> key of the map output
 * @param <V> its value
 */
public final class LustreMerge<K, V> implements ShuffleConsumerPlugin<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(LustreMerge.class);
  // The attempts of a restarted application master are numbered from the next thousand on.
  static final int ATTEMPTS_OF_ONE_MASTER = 1000;

  /** Milliseconds between two questions to the application master; some tests set fewer. */
  long pollMillis = EventPoller.PERIOD_MILLIS;

  private Context<K, V> context;
  private Shuffle<K, V> stock;
  private JobConf job;
  private TaskAttemptID attempt;
  private ReduceCounters counters;
  private HeapShare budget;
  private ReadPool pool;
  private PassWriter passWriter;
  private OlderPasses older;
  private RawKeyValueIterator records;

  @Override
  public void init(Context<K, V> shuffleContext) {
    context = shuffleContext;
    boolean off = !ShuffleConf.ENABLED.get(context.getJobConf());
    if (off || context.getLocalMapFiles() != null) {
      stock = new Shuffle<>();
      stock.init(shuffleContext);
      return;
    }
    job = context.getJobConf();
    attempt = (TaskAttemptID) context.getReduceId();
    counters = new ReduceCounters(context);
    budget = new HeapShare(job);
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    if (stock != null) {
      return stock.run();
    }
    Switches.checkCollector(job);
    ShuffleDirs dirs = new ShuffleDirs(job);
    ShuffleFiles fs =
        new ShuffleFiles(dirs.root().getFileSystem(job), counters::asked);
    pool = new ReadPool(ShuffleConf.READ_TIMEOUT.get(job));
    try {
      MemoryPlan memory = new MemoryPlan(budget.besideReduce(), ShuffleConf.READ_SIZE.get(job),
          SegmentOpener.decodeBytes(job, context.getCodec()));
      List<SegmentFile> segments = segments(fs, dirs, memory);
      leaveShuffle();
      records = merged(fs, dirs, segments, memory.besides(segments));
      return records;
    } catch (Throwable e) {
      failed(e);
      throw e;
    }
  }

  // Hadoop closes what succeeded only.
  private void failed(Throwable cause) {
    pool.close();
    try {
      if (passWriter != null) {
        passWriter.discardAll();
      }
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  /** Waits for all map outputs; their segments in the order of maps and runs. */
  private List<SegmentFile> segments(ShuffleFiles fs, ShuffleDirs dirs, MemoryPlan memory)
      throws IOException, InterruptedException {
    // An earlier attempt of this reduce may have failed by what only the checksums show.
    boolean retry = attempt.getId() % ATTEMPTS_OF_ONE_MASTER > 0;
    int verifyBytes = retry ? Math.toIntExact(ShuffleConf.READ_SIZE.get(job)) : 0;
    MapOutcomes<FetchedOutput> outcomes = new MapOutcomes<>(job.getNumMapTasks());
    Validator validator = new Validator(fs, dirs, JobFormat.of(job), partition(),
        verifyBytes, memory.toHold(), memory.toLook(), counters);
    EventPoller events =
        new EventPoller(context.getUmbilical(), attempt, job.getNumReduceTasks(), pollMillis);
    LostReports reports = new LostReports(context.getUmbilical(), attempt, context.getStatus(),
        MRJobConfUtil.getTaskProgressReportInterval(job));
    List<FetchedOutput> outputs = new IntactOutputs(events, outcomes, validator, pool, reports,
        counters, () -> copied(outcomes)).await();
    counters.shuffled(outputs, new StockBytes(job));
    LOG.info("{} map outputs are intact", outputs.size());
    return outputs.stream().flatMap(each -> each.segments().stream())
        .collect(Collectors.toCollection(ArrayList::new));
  }

  private void copied(MapOutcomes<FetchedOutput> outcomes) {
    int done = outcomes.done();
    context.getCopyPhase().set((float) done / Math.max(1, outcomes.maps()));
    context.getStatus().setStateString(done + " / " + outcomes.maps() + " map outputs intact.");
    context.getReporter().progress();
  }

  private void leaveShuffle() throws IOException {
    context.getCopyPhase().complete();
    context.getStatus().setPhase(TaskStatus.Phase.SORT);
    context.getReduceTask().statusUpdate(context.getUmbilical());
  }

  private RawKeyValueIterator merged(ShuffleFiles fs, ShuffleDirs dirs, List<SegmentFile> segments,
      MemoryPlan memory) throws IOException {
    MergeThread thread = new MergeThread(job, context.getCodec());
    Conservation conservation = Conservation.of(segments);
    SegmentOpener opener =
        new SegmentOpener(fs, job, context.getCodec(), pool, counters, context.getReporter());
    passWriter = new PassWriter(fs, dirs.attempt(attempt), job, context.getReporter());
    older = new OlderPasses(
        fs, dirs, context.getUmbilical(), attempt, job.getMaxReduceAttempts());
    older.remove();
    int all = segments.size();
    new Passes(opener, passWriter, memory, budget.beforeReduce(), KeyOrder.of(job),
        (written, left) -> passed(written, left, all)).fit(segments);

    int first = (int) ((long) partition() * segments.size() / job.getNumReduceTasks());
    LOG.info("Merging {} segments", segments.size());
    return inOrder(new Merge(opener.open(segments, memory.bufferBytes(segments), first),
        KeyOrder.of(job)), conservation, memory, thread);
  }

  private RawKeyValueIterator inOrder(Merge merge, Conservation conservation, MemoryPlan memory,
      MergeThread thread) throws IOException {
    OrderCheck order = thread.orderCheck(attempt.getJobID() + ", " + attempt);
    Optional<String> whyInReduce = thread.whyInReduce();
    whyInReduce.ifPresent(why -> LOG.info("The merge runs in the thread of reduce(): {}", why));
    return whyInReduce.isPresent()
        ? new MergedRecords(merge, conservation, order)
        : new BatchedRecords(merge, conservation, order, memory, context.getReporter());
  }

  private void passed(long written, int left, int all) {
    counters.passed(written);
    older.remove();
    Progress sort = context.getMergePhase();
    sort.set((float) (all - left) / all);
    sort.setStatus("passes: " + left + " of " + all + " segments left");
    context.getReporter().progress();
  }

  private int partition() {
    return attempt.getTaskID().getId();
  }

  /** Ends the threads, and removes what passes left. Hadoop calls it after success only. */
  @Override
  public void close() {
    if (stock != null) {
      stock.close();
      return;
    }
    try {
      if (records != null) {
        records.close();
        passWriter.discardAll();
        older.remove();
      }
    } catch (IOException e) {
      LOG.warn("Cannot clean up after {}; the job's end will", attempt, e);
    } finally {
      records = null;
      if (pool != null) {
        pool.close();
      }
    }
  }
}
