package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.vas.shuffle.reduce.Rec.random;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Checks the order and the groups that reduce() sees: with equal keys, and comparators of the job's
 * own.
 */
@Timeout(120)
class ReduceOrderTest {
  @TempDir Path dir;

  /** Makes a harness on the medium of this class. */
  ReduceHarness harness(Path at, int maps) throws IOException {
    return new ReduceHarness(at, maps);
  }

  @Test
  void equalKeysComeInTheOrderOfMapsAndRuns() throws Exception {
    ReduceHarness harness = harness(dir, 3);
    for (int map = 0; map < 3; map++) {
      List<List<Rec>> runs = new ArrayList<>();
      for (int run = 0; run < 2; run++) {
        List<Rec> records = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
          records.add(new Rec(new Text("the same key"), new Text(map + "." + run + "." + i)));
        }
        runs.add(records);
      }
      harness.map(map, runs);
    }
    harness.check();
    assertEquals(1, harness.expected().size());
  }

  /** Sorts in descending order: a comparator of the job's own. */
  public static final class Descending extends WritableComparator {
    public Descending() {
      super(Text.class, true);
    }

    @Override
    @SuppressWarnings({"rawtypes", "unchecked"})
    public int compare(WritableComparable a, WritableComparable b) {
      return b.compareTo(a);
    }
  }

  /** Groups by the first letter. */
  public static final class FirstLetter extends WritableComparator {
    public FirstLetter() {
      super(Text.class, true);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public int compare(WritableComparable a, WritableComparable b) {
      return Integer.compare(((Text) a).charAt(0), ((Text) b).charAt(0));
    }
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void theJobsComparators(boolean newApi) throws Exception {
    ReduceHarness harness = harness(dir, 4);
    if (newApi) {
      harness.newApi();
    }
    harness.job.setOutputKeyComparatorClass(Descending.class);
    harness.job.setOutputValueGroupingComparator(FirstLetter.class);
    for (int map = 0; map < 4; map++) {
      harness.map(map, List.of(random(new Random(map), 500)));
    }
    harness.check();
    assertEquals(harness.expected().size(), harness.counter(TaskCounter.REDUCE_INPUT_GROUPS));
  }

  /** A key whose registered comparator keeps state, and is one object for all who ask. */
  public static final class Stateful extends IntKey {
    static {
      WritableComparator.define(Stateful.class, new WritableComparator(Stateful.class, true) {});
    }
  }

  /** An int that compares by its writable, not by its bytes. */
  public static class IntKey implements WritableComparable<IntKey> {
    private final IntWritable value = new IntWritable();

    IntKey set(int number) {
      value.set(number);
      return this;
    }

    @Override
    public int compareTo(IntKey other) {
      return value.compareTo(other.value);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof IntKey && value.equals(((IntKey) other).value);
    }

    @Override
    public int hashCode() {
      return value.hashCode();
    }

    @Override
    public void write(DataOutput out) throws IOException {
      value.write(out);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      value.readFields(in);
    }

    @Override
    public String toString() {
      return value.toString();
    }
  }

  @Test
  void aSharedComparatorIsUsedByOneThread() throws Exception {
    ReduceHarness harness = harness(dir, 6);
    harness.job.setMapOutputKeyClass(Stateful.class);
    new Stateful();
    harness.job.set("vas.shuffle.merge-thread", "on");
    assertTrue(new MergeThread(harness.job, null).whyInReduce().isPresent());
    Random random = new Random(11);
    for (int map = 0; map < 6; map++) {
      List<Rec> records = new ArrayList<>();
      for (int i = 0; i < 20_000; i++) {
        records.add(new Rec(new Stateful().set(random.nextInt(5000)), new Text("" + i)));
      }
      harness.map(map, List.of(records));
    }
    harness.check();
  }
}
