package org.vas.shuffle.map;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.ShuffleConf;
import org.vas.shuffle.mof.MofFile;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.order.KeyOrder;

/** The runs of one map attempt: written one after another, merged when they are too many. */
final class Runs implements Closeable {
  private static final int RECORDS_AT_ONCE = 64;
  private static final int STOCK_RUNS_TO_COMBINE = 3;

  private final JobConf job;
  private final AttemptFiles files;
  private final KeyOrder order;
  private final Combine<?, ?> combine;
  private final Progressable progress;
  private final SegmentWriter writer;
  private final int partitions;
  private final int maxRuns;
  private List<Segment> segments = new ArrayList<>();
  private MofSet mofs;
  private int count;
  private long spilledRecords;

  /** @param combine null if the job has no combiner */
  Runs(JobConf job, AttemptFiles files, MofPolicy policy, KeyOrder order, Combine<?, ?> combine,
      Progressable progress) {
    this.job = job;
    this.files = files;
    this.order = order;
    this.combine = combine;
    this.progress = progress;
    this.writer = new SegmentWriter(job);
    this.partitions = job.getNumReduceTasks();
    this.maxRuns = ShuffleConf.MAX_RUNS.get(job);
    this.mofs = new MofSet(files, policy, 0);
  }

  /** Sorts the records of a buffer and appends them as a run. */
  void write(Entries entries, RecordBuffer buffer) throws IOException {
    boolean combined = combine != null && !buffer.isOversized();
    Records records = buffer.records();
    EntrySorter sorter = new EntrySorter(order, records, progress);
    long[] sorted = entries.byPartition();
    RunOutput out = new RunOutput(writer, mofs, count, buffer.bytes() / nonEmpty(entries));
    for (int partition = 0, from = 0; partition < partitions; partition++) {
      int to = from + entries.count(partition);
      if (to > from) {
        sorter.sort(sorted, from, to);
        out.start(partition);
        if (combined) {
          combine.run(new SortedRecords(sorted, from, to, records), out);
        } else {
          copy(sorted, from, to, records, out);
        }
        progress.progress();
      }
      from = to;
    }
    add(out.end());
  }

  /** Merges all runs to one if there are more than the job allows. */
  void limit() throws IOException {
    if (count > maxRuns) {
      merge();
    }
  }

  /** Closes the files; nothing is written afterwards. */
  @Override
  public void close() throws IOException {
    mofs.close();
  }

  int count() {
    return count;
  }

  /** By partition, then run. */
  List<Segment> segments() {
    return segments.stream()
        .sorted(Comparator.comparingInt(Segment::partition).thenComparingInt(Segment::run))
        .collect(Collectors.toList());
  }

  List<MofFile> files() {
    return mofs.describe();
  }

  /** Records written, counting those of merges again as stock does. */
  long spilledRecords() {
    return spilledRecords;
  }

  /** What stock counts: all stored bytes, and an empty segment for each empty partition. */
  long materializedBytes() throws IOException {
    long stored = segments.stream().mapToLong(Segment::storedBytes).sum();
    long empty = partitions - segments.stream().mapToInt(Segment::partition).distinct().count();
    return empty == 0 ? stored : stored + empty * writer.emptyBytes();
  }

  private void add(List<Segment> written) {
    spilledRecords += written.stream().mapToLong(Segment::records).sum();
    segments.addAll(written);
    count += written.isEmpty() ? 0 : 1;
  }

  // A few records at a time: asking for all their lengths first lets the processor fetch them from
  // memory at once, which is most of the time that this takes.
  private void copy(long[] sorted, int from, int to, Records records, RunOutput out)
      throws IOException {
    int[] lengths = new int[RECORDS_AT_ONCE];
    for (int start = from; start < to; start += RECORDS_AT_ONCE) {
      int count = Math.min(RECORDS_AT_ONCE, to - start);
      for (int i = 0; i < count; i++) {
        lengths[i] = records.length(sorted[2 * (start + i) + 1]);
      }
      for (int i = 0; i < count; i++) {
        long place = sorted[2 * (start + i) + 1];
        out.append(records.block(place), Entries.offset(place), lengths[i]);
      }
      progress.progress();
    }
  }

  private void merge() throws IOException {
    mofs.close();
    List<Segment> old = segments();
    boolean combined = combine != null
        && count >= job.getInt(JobContext.MAP_COMBINE_MIN_SPILLS, STOCK_RUNS_TO_COMBINE);
    MofSet merged = mofs.next();
    RunOutput out = new RunOutput(writer, merged, 0, expectedBytes(old));
    try (merged) {
      for (int from = 0; from < old.size(); ) {
        int to = endOfPartition(old, from);
        out.start(old.get(from).partition());
        mergeOne(old.subList(from, to), combined, out);
        from = to;
      }
      replace(out.end());
    }
    mofs.delete();
    mofs = merged;
  }

  private void mergeOne(List<Segment> ofPartition, boolean combined, RunOutput out)
      throws IOException {
    RunMerge records = new RunMerge(job, files, mofs.describe(), ofPartition,
        SegmentWriter.codec(job), order, progress);
    try {
      if (combined) {
        combine.run(records, out);
      } else {
        copy(records, out);
      }
    } finally {
      records.close();
    }
  }

  private static void copy(RawKeyValueIterator records, RunOutput out) throws IOException {
    while (records.next()) {
      DataInputBuffer key = records.getKey();
      DataInputBuffer value = records.getValue();
      out.append(key.getData(), key.getPosition(), key.getLength() - key.getPosition(),
          value.getData(), value.getPosition(), value.getLength() - value.getPosition());
    }
  }

  private void replace(List<Segment> merged) {
    segments = new ArrayList<>();
    count = 0;
    add(merged);
  }

  private static int endOfPartition(List<Segment> sorted, int from) {
    int to = from;
    while (to < sorted.size() && sorted.get(to).partition() == sorted.get(from).partition()) {
      to++;
    }
    return to;
  }

  private static long expectedBytes(List<Segment> old) {
    return old.stream().mapToLong(Segment::storedBytes).sum()
        / Math.max(1, old.stream().mapToInt(Segment::partition).distinct().count());
  }

  private int nonEmpty(Entries entries) {
    int found = 0;
    for (int partition = 0; partition < partitions; partition++) {
      found += entries.count(partition) > 0 ? 1 : 0;
    }
    return found;
  }
}
