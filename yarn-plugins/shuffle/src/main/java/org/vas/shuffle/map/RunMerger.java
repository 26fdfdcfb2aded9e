package org.vas.shuffle.map;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.ShuffleConf;
import org.vas.shuffle.merge.Conservation;
import org.vas.shuffle.merge.MemoryPlan;
import org.vas.shuffle.merge.Merge;
import org.vas.shuffle.merge.MergedRecords;
import org.vas.shuffle.merge.OrderCheck;
import org.vas.shuffle.merge.ReadPool;
import org.vas.shuffle.merge.SegmentOpener;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentWriter;
import org.vas.shuffle.order.KeyOrder;

/** Merges neighbouring runs into one, as reducers merge segments; equal keys keep their order. */
final class RunMerger implements AutoCloseable {
  private static final Comparator<Segment> ORDER =
      Comparator.comparingInt(Segment::partition).thenComparingInt(Segment::run);
  private static final int RECORDS_PER_PROGRESS = 1 << 12;

  private final AttemptFiles files;
  private final MofTable table;
  private final KeyOrder order;
  private final Progressable progress;
  private final ReadPool pool;
  private final MemoryPlan memory;
  private final SegmentOpener opener;

  /**
   * Makes a merger with threads that read; {@link #close} ends them.
   *
   * @param budget bytes of memory for reading ahead and decoding
   */
  RunMerger(JobConf job, AttemptFiles files, MofTable table, KeyOrder order, Progressable progress,
      long budget) {
    CompressionCodec codec = SegmentWriter.codec(job);
    this.files = files;
    this.table = table;
    this.order = order;
    this.progress = progress;
    this.memory = new MemoryPlan(budget, ShuffleConf.READ_SIZE.get(job),
        SegmentOpener.decodeBytes(job, codec));
    this.pool = new ReadPool(ShuffleConf.READ_TIMEOUT.get(job));
    this.opener =
        new SegmentOpener(files.fileSystem(), job, codec, pool, ReadMeter.NONE, progress);
  }

  /** Returns how many runs fit into memory at once. */
  int fanIn() {
    return memory.fanIn();
  }

  /**
   * Merges runs, whose MOFs are closed, and appends their records to {@code out}.
   *
   * @param combine null if the combiner is not to run
   */
  void merge(List<SortedRun> runs, Combine<?, ?> combine, Ledger ledger, RunOutput out)
      throws IOException {
    List<Segment> all = runs.stream().flatMap(run -> run.segments().stream())
        .sorted(ORDER).collect(Collectors.toList());
    for (int from = 0; from < all.size(); ) {
      int partition = all.get(from).partition();
      int to = from;
      while (to < all.size() && all.get(to).partition() == partition) {
        to++;
      }
      out.start(partition);
      mergeOne(partition, all.subList(from, to), combine, ledger, out);
      from = to;
    }
  }

  private void mergeOne(int partition, List<Segment> segments, Combine<?, ?> combine,
      Ledger ledger, RunOutput out) throws IOException {
    List<SegmentFile> inputs = segments.stream()
        .map(each -> new SegmentFile(files.path(table.get(each.file()).name()), each))
        .collect(Collectors.toList());
    try (Merge merge =
        new Merge(opener.open(inputs, memory.bufferBytes(inputs), 0), order)) {
      if (combine == null) {
        copy(merge, out);
      } else {
        Conservation promised = Conservation.of(inputs);
        combine.run(new MergedRecords(merge, promised, OrderCheck.none()), out);
        ledger.combined(partition, segments.stream().mapToLong(Segment::records).sum(),
            promised.rawBytes(), combine);
      }
    }
  }

  private void copy(Merge merge, RunOutput out) throws IOException {
    for (long count = 1; merge.next(); count++) {
      byte[] data = merge.data();
      int value = merge.offset() + merge.keyLength();
      out.append(data, merge.offset(), merge.keyLength(), data, value, merge.valueLength());
      if (count % RECORDS_PER_PROGRESS == 0) {
        progress.progress();
      }
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
