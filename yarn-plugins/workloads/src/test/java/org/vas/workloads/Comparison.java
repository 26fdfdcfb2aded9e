package org.vas.workloads;

import static org.apache.hadoop.mapreduce.TaskCounter.COMBINE_INPUT_RECORDS;
import static org.apache.hadoop.mapreduce.TaskCounter.COMBINE_OUTPUT_RECORDS;
import static org.apache.hadoop.mapreduce.TaskCounter.FAILED_SHUFFLE;
import static org.apache.hadoop.mapreduce.TaskCounter.MAP_INPUT_RECORDS;
import static org.apache.hadoop.mapreduce.TaskCounter.MAP_OUTPUT_BYTES;
import static org.apache.hadoop.mapreduce.TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES;
import static org.apache.hadoop.mapreduce.TaskCounter.MAP_OUTPUT_RECORDS;
import static org.apache.hadoop.mapreduce.TaskCounter.MERGED_MAP_OUTPUTS;
import static org.apache.hadoop.mapreduce.TaskCounter.REDUCE_INPUT_GROUPS;
import static org.apache.hadoop.mapreduce.TaskCounter.REDUCE_INPUT_RECORDS;
import static org.apache.hadoop.mapreduce.TaskCounter.REDUCE_OUTPUT_RECORDS;
import static org.apache.hadoop.mapreduce.TaskCounter.REDUCE_SHUFFLE_BYTES;
import static org.apache.hadoop.mapreduce.TaskCounter.SHUFFLED_MAPS;
import static org.apache.hadoop.mapreduce.TaskCounter.SPILLED_RECORDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.TaskCounter;

/** Compares VAS's counters with stock's: they are equal, or differ by what docs/shuffle.md says. */
final class Comparison {
  private static final long END_MARKER_AND_CRC32 = 6;
  private static final List<TaskCounter> ALWAYS = List.of(MAP_INPUT_RECORDS, MAP_OUTPUT_RECORDS,
      SHUFFLED_MAPS, FAILED_SHUFFLE, MERGED_MAP_OUTPUTS, REDUCE_INPUT_GROUPS,
      REDUCE_OUTPUT_RECORDS);
  private static final List<TaskCounter> OF_ONE_RUN =
      List.of(COMBINE_INPUT_RECORDS, COMBINE_OUTPUT_RECORDS, REDUCE_INPUT_RECORDS);
  private static final List<TaskCounter> OF_PLAIN_BYTES =
      List.of(MAP_OUTPUT_MATERIALIZED_BYTES, REDUCE_SHUFFLE_BYTES);

  private final Ran stock;
  private final Ran ours;
  private final boolean plain;
  private final long segmentBytes;
  private final long bufferBytes;

  Comparison(Ran stock, Ran ours, JobConf job) throws IOException {
    this.stock = stock;
    this.ours = ours;
    this.plain = !job.getCompressMapOutput();
    this.segmentBytes = END_MARKER_AND_CRC32 + CryptoUtils.cryptoPadding(job);
    this.bufferBytes = (long) job.getInt(JobContext.IO_SORT_MB, 100) << 20;
  }

  void check() {
    same(ALWAYS);
    assertEquals(0, ours.reduces.ours("PASSES"));
    assertEquals(0, ours.reduces.of(SPILLED_RECORDS), "records spilled by reducers");
    boolean combined = stock.of(COMBINE_INPUT_RECORDS) > 0;
    if (ours.of(MAP_OUTPUT_BYTES) > bufferBytes * ours.of(MAP_OUTPUT_RECORDS)) {
      checkLargeRecords();
      return;
    }
    same(List.of(MAP_OUTPUT_BYTES));
    if (stock.maps.of(SPILLED_RECORDS) == written(stock, combined)) {
      checkOneRun();
    } else if (combined) {
      checkCombinedRuns();
    } else {
      checkRuns();
    }
  }

  /** Stock has no combiner for a record larger than its buffer, and counts what it stored of it. */
  private void checkLargeRecords() {
    same(List.of(REDUCE_INPUT_RECORDS));
    assertEquals(stock.maps.of(SPILLED_RECORDS), ours.maps.of(SPILLED_RECORDS));
  }

  /** What maps leave to reducers. */
  private static long written(Ran ran, boolean combined) {
    return ran.of(combined ? REDUCE_INPUT_RECORDS : MAP_OUTPUT_RECORDS);
  }

  private void checkOneRun() {
    same(OF_ONE_RUN);
    assertEquals(stock.maps.of(SPILLED_RECORDS), ours.maps.of(SPILLED_RECORDS));
    if (plain) {
      same(OF_PLAIN_BYTES);
    }
  }

  /** Stock counts each record again when it merges its runs. */
  private void checkRuns() {
    same(List.of(REDUCE_INPUT_RECORDS));
    assertEquals(2 * stock.of(MAP_OUTPUT_RECORDS), stock.maps.of(SPILLED_RECORDS));
    if (plain) {
      same(List.of(REDUCE_SHUFFLE_BYTES));
      checkSegments();
    }
  }

  /** Stock has one segment for each map and partition, ours has one for each run of them. */
  private void checkSegments() {
    long more = ours.of(MAP_OUTPUT_MATERIALIZED_BYTES) - stock.of(MAP_OUTPUT_MATERIALIZED_BYTES);
    assertEquals(0, more % segmentBytes);
    assertTrue(more > 0);
  }

  /** Stock combines once more when it merges its runs. */
  private void checkCombinedRuns() {
    assertTrue(ours.of(REDUCE_INPUT_RECORDS) >= stock.of(REDUCE_INPUT_RECORDS));
    assertEquals(ours.of(MAP_OUTPUT_RECORDS), ours.of(COMBINE_INPUT_RECORDS));
    assertEquals(ours.of(COMBINE_OUTPUT_RECORDS), ours.of(REDUCE_INPUT_RECORDS));
    assertEquals(ours.of(COMBINE_OUTPUT_RECORDS), ours.maps.of(SPILLED_RECORDS));
    assertTrue(stock.of(COMBINE_INPUT_RECORDS) > stock.of(MAP_OUTPUT_RECORDS));
  }

  private void same(List<TaskCounter> names) {
    assertEquals(stock.of(names), ours.of(names));
  }
}
