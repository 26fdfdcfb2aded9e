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
import org.vas.shuffle.merge.BatchedRecords;
import org.vas.shuffle.merge.Conservation;
import org.vas.shuffle.merge.MemoryPlan;
import org.vas.shuffle.merge.Merge;
import org.vas.shuffle.merge.MergedRecords;
import org.vas.shuffle.merge.OrderCheck;
import org.vas.shuffle.merge.PassWriter;
import org.vas.shuffle.merge.Passes;
import org.vas.shuffle.merge.RecordCursor;
import org.vas.shuffle.merge.SegmentOpener;
import org.vas.shuffle.merge.SegmentReads;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.order.KeyOrder;

/**
 * Merges the outputs of all maps from where they were written into reduce(); a medium says where
 * that is. The stages are in docs/shuffle.md. In a job that runs in one process, or that {@code
 * vas.shuffle.enabled} switches off, stock's shuffle does the work.
 *
 * @param <K> key of the map output
 * @param <V> its value
 */
abstract class StreamedMerge<K, V> implements ShuffleConsumerPlugin<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(StreamedMerge.class);

  /** Milliseconds between two questions to the application master; some tests set fewer. */
  long pollMillis = EventPoller.PERIOD_MILLIS;

  private Context<K, V> context;
  private Shuffle<K, V> stock;
  private JobConf job;
  private TaskAttemptID attempt;
  private ReduceCounters counters;
  private OutputMedium medium;
  private HeapShare budget;
  private SegmentReads pool;
  private PassWriter passWriter;
  private RawKeyValueIterator records;

  /**
   * Returns the medium where this job's map outputs lie.
   *
   * @throws IOException if the job does not write them there, or they cannot be reached
   */
  abstract OutputMedium medium(Context<K, V> shuffleContext, ReduceCounters meter)
      throws IOException;

  @Override
  public final void init(Context<K, V> shuffleContext) {
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
  public final RawKeyValueIterator run() throws IOException, InterruptedException {
    if (stock != null) {
      return stock.run();
    }
    medium = medium(context, counters);
    try {
      pool = medium.reads();
      MemoryPlan memory = new MemoryPlan(budget.besideReduce(), ShuffleConf.READ_SIZE.get(job),
          SegmentOpener.decodeBytes(job, context.getCodec()));
      List<SegmentFile> segments = segments(memory);
      leaveShuffle();
      records = merged(segments, memory.besides(segments));
      return records;
    } catch (Throwable e) {
      failed(e);
      throw e;
    }
  }

  // Hadoop closes what succeeded only.
  private void failed(Throwable cause) {
    medium.close();
    counters.close();
    try {
      if (passWriter != null) {
        passWriter.discardAll();
      }
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  /** Waits for all map outputs; their segments in the order of maps and runs. */
  private List<SegmentFile> segments(MemoryPlan memory)
      throws IOException, InterruptedException {
    MapOutcomes<FetchedOutput> outcomes = new MapOutcomes<>(job.getNumMapTasks());
    EventPoller events =
        new EventPoller(context.getUmbilical(), attempt, job.getNumReduceTasks(), pollMillis);
    LostReports reports = new LostReports(context.getUmbilical(), attempt, context.getStatus(),
        MRJobConfUtil.getTaskProgressReportInterval(job));
    List<FetchedOutput> outputs = new IntactOutputs(events, outcomes, medium.look(memory), pool,
        reports, counters, () -> copied(outcomes)).await();
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

  private RawKeyValueIterator merged(List<SegmentFile> segments, MemoryPlan memory)
      throws IOException {
    MergeThread thread = new MergeThread(job, context.getCodec());
    Conservation conservation = Conservation.of(segments);
    passWriter = medium.passWriter();
    medium.removeOlderPasses();
    KeyOrder order = KeyOrder.of(job);
    List<RecordCursor> inputs = medium.merged(segments).map(List::of).orElse(null);
    if (inputs == null) {
      inputs = opened(segments, memory, order);
    }
    return inOrder(new Merge(inputs, order), conservation, memory, thread);
  }

  private List<RecordCursor> opened(List<SegmentFile> segments, MemoryPlan memory, KeyOrder order)
      throws IOException {
    SegmentOpener opener =
        new SegmentOpener(medium.files(), job, context.getCodec(), pool, counters, context.getReporter());
    int all = segments.size();
    new Passes(opener, passWriter, memory, budget.beforeReduce(), order,
        (written, left) -> passed(written, left, all)).fit(segments);

    int first = (int) ((long) partition() * segments.size() / job.getNumReduceTasks());
    LOG.info("Merging {} segments", segments.size());
    return opener.open(segments, memory.bufferBytes(segments), first);
  }

  private RawKeyValueIterator inOrder(Merge merge, Conservation conservation, MemoryPlan memory,
      MergeThread thread) throws IOException {
    OrderCheck order = thread.orderCheck(attempt.getJobID() + ", " + attempt);
    Optional<String> whyInReduce = thread.whyInReduce()
        .or(() -> thread.isAsked() ? Optional.empty() : medium.whyInReduce());
    whyInReduce.ifPresent(why -> LOG.info("The merge runs in the thread of reduce(): {}", why));
    return whyInReduce.isPresent()
        ? new MergedRecords(merge, conservation, order)
        : new BatchedRecords(merge, conservation, order, memory, context.getReporter());
  }

  private void passed(long written, int left, int all) {
    counters.passed(written);
    medium.removeOlderPasses();
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
  public final void close() {
    if (stock != null) {
      stock.close();
      return;
    }
    try {
      if (records != null) {
        records.close();
        passWriter.discardAll();
        medium.removeOlderPasses();
      }
    } catch (IOException e) {
      LOG.warn("Cannot clean up after {}; the job's end will", attempt, e);
    } finally {
      records = null;
      if (medium != null) {
        medium.close();
      }
      if (counters != null) {
        counters.close();
      }
    }
  }
}
