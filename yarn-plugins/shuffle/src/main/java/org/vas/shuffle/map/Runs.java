package org.vas.shuffle.map;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.merge.PassPlan;
import org.vas.shuffle.mof.MofFile;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.order.KeyOrder;

/**
 * The runs of one map attempt: written one after another, and merged at the end if they are more
 * than reducers are to meet. The smallest neighbours are always merged first, so that no byte is
 * rewritten more often than a logarithm of the runs.
 */
final class Runs implements Closeable {
  private static final int STOCK_RUNS_TO_COMBINE = 3;
  // What is known of each segment takes memory: some hundred bytes.
  private static final int MOST_AT_ANY_TIME = 256;
  private static final int LEFT_AT_ANY_TIME = 16;

  private final JobConf job;
  private final AttemptFiles files;
  private final KeyOrder order;
  private final Combine<?, ?> combine;
  private final Ledger ledger;
  private final SegmentWriter writer;
  private final Progressable progress;
  private final int partitions;
  private final int maxRuns;
  private final MofTable table = new MofTable();
  private final List<SortedRun> runs = new ArrayList<>();
  private MofPolicy policy;
  private MofSet mofs;
  private int generations;
  private int written;
  private long spilledRecords;

  /**
   * Makes the runs of an attempt, none so far.
   *
   * @param combine null if the job has no combiner
   */
  Runs(JobConf job, AttemptFiles files, KeyOrder order, Combine<?, ?> combine, Ledger ledger,
      SegmentWriter writer, Progressable progress) throws IOException {
    this.job = job;
    this.files = files;
    this.policy = files.policy(job);
    this.order = order;
    this.combine = combine;
    this.ledger = ledger;
    this.writer = writer;
    this.progress = progress;
    this.partitions = job.getNumReduceTasks();
    this.maxRuns = files.mostRuns(job);
    this.mofs = newMofs();
  }

  /**
   * Announces that the next run is the last and has so many bytes; if it is also the first, the
   * files are laid out for that size.
   */
  void expectLast(long bytes) {
    if (written == 0) {
      policy = policy.ofOutput(job, bytes);
      generations = 0;
      mofs = newMofs();
    }
  }

  /** Sorts the records of a buffer and appends them as a run. */
  void write(Entries entries, RecordBuffer buffer) throws IOException {
    boolean combined = combine != null && !buffer.isOversized();
    Records records = buffer.records();
    EntrySorter sorter = new EntrySorter(order, records, progress);
    long[] sorted = entries.byPartition();
    RunOutput out = new RunOutput(writer, mofs, written, buffer.bytes() / nonEmpty(entries));
    for (int partition = 0, from = 0; partition < partitions; partition++) {
      int to = from + entries.count(partition);
      if (to > from) {
        sorter.sort(sorted, from, to);
        out.start(partition);
        if (combined) {
          SortedRecords offered = new SortedRecords(sorted, from, to, records);
          combine.run(offered, out);
          ledger.combined(partition, offered, combine);
        } else {
          copy(sorted, from, to, records, out);
        }
        progress.progress();
      }
      from = to;
    }
    ledger.spilled();
    add(runs.size(), mofs, out.end());
    written++;
  }

  /** Returns whether some runs must be merged before the map goes on. */
  boolean isCrowded() {
    return runs.size() > Math.max(MOST_AT_ANY_TIME, 2 * maxRuns);
  }

  /** Merges some runs within {@code budget} bytes, so that the map can go on for long. */
  void thin(long budget) throws IOException {
    limit(Math.max(LEFT_AT_ANY_TIME, maxRuns), budget);
  }

  /** Merges runs within {@code budget} bytes until no more are left than the job allows. */
  void finish(long budget) throws IOException {
    limit(maxRuns, budget);
  }

  /** Closes the files; nothing is written afterwards. */
  @Override
  public void close() throws IOException {
    mofs.close();
  }

  int count() {
    return runs.size();
  }

  /** Returns segments by partition, then run; runs and files are numbered from 0, without gaps. */
  List<Segment> segments() {
    return table.renumbered(runs).stream()
        .sorted(Comparator.comparingInt(Segment::partition).thenComparingInt(Segment::run))
        .collect(Collectors.toList());
  }

  List<MofFile> files() {
    return table.present();
  }

  /** Returns the number of records written, counting those of merges again as stock does. */
  long spilledRecords() {
    return spilledRecords;
  }

  /**
   * Returns the bytes of the output as stock counts them: all stored bytes, and an empty segment
   * for each empty partition.
   */
  long materializedBytes() throws IOException {
    long stored = runs.stream().mapToLong(SortedRun::storedBytes).sum();
    long empty = partitions - runs.stream().flatMap(run -> run.segments().stream())
        .mapToInt(Segment::partition).distinct().count();
    return empty == 0 ? stored : stored + empty * writer.emptyBytes();
  }

  private MofSet newMofs() {
    return new MofSet(files, policy, table, generations++);
  }

  private void add(int at, MofSet where, List<Segment> segments) {
    if (!segments.isEmpty()) {
      SortedRun run = new SortedRun(where, segments);
      spilledRecords += run.records();
      runs.add(at, run);
    }
  }

  private void copy(long[] sorted, int from, int to, Records records, RunOutput out)
      throws IOException {
    Heads heads = new Heads(records);
    for (int start = from; start < to; ) {
      int count = heads.read(sorted, start, to);
      for (int i = 0; i < count; i++, start++) {
        long place = sorted[2 * start + 1];
        int offset = Entries.offset(place);
        out.append(records.block(place), offset, heads.end(i) - offset);
      }
      progress.progress();
    }
  }

  private void limit(int most, long budget) throws IOException {
    if (runs.size() <= most) {
      return;
    }
    mofs.close();
    mofs = newMofs();
    try (RunMerger merger = new RunMerger(job, files, table, order, progress, budget)) {
      int factor = job.getInt(MRJobConfig.IO_SORT_FACTOR, MRJobConfig.DEFAULT_IO_SORT_FACTOR);
      int fanIn = Math.max(2, Math.min(factor, merger.fanIn()));
      while (runs.size() > most) {
        merge(merger, PassPlan.next(runs, SortedRun::storedBytes, most, fanIn));
      }
    }
  }

  private void merge(RunMerger merger, List<SortedRun> next) throws IOException {
    List<SortedRun> inputs = new ArrayList<>(next);
    boolean combined = combine != null
        && written >= job.getInt(JobContext.MAP_COMBINE_MIN_SPILLS, STOCK_RUNS_TO_COMBINE);
    MofSet merged = newMofs();
    RunOutput out = new RunOutput(writer, merged, inputs.get(0).number(), expectedBytes(inputs));
    List<Segment> segments;
    try (merged) {
      merger.merge(inputs, combined ? combine : null, ledger, out);
      segments = out.end();
    }
    int at = runs.indexOf(inputs.get(0));
    next.clear();
    add(at, merged, segments);
    for (SortedRun input : inputs) {
      if (runs.stream().noneMatch(run -> run.mofs() == input.mofs())) {
        input.mofs().delete();
      }
    }
  }

  private static long expectedBytes(List<SortedRun> inputs) {
    return inputs.stream().mapToLong(SortedRun::storedBytes).sum()
        / inputs.stream().mapToInt(run -> run.segments().size()).max().orElse(1);
  }

  private int nonEmpty(Entries entries) {
    int found = 0;
    for (int partition = 0; partition < partitions; partition++) {
      found += entries.count(partition) > 0 ? 1 : 0;
    }
    return found;
  }
}
