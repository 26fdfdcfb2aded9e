package org.vas.shuffle.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.hadoop.io.BinaryComparable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.shuffle.merge.DisorderException;

/** A reduce attempt whose input is not in order fails, whoever mixed it up. */
@Timeout(120)
class OrderCheckTest {
  @TempDir Path dir;
  private ReduceHarness harness;

  @BeforeEach
  void oneMap() throws IOException {
    harness = new ReduceHarness(dir, 1);
  }

  private void publish(String... words) throws IOException {
    publish(Text::new, words);
  }

  private void publish(Function<String, Text> key, String... words) throws IOException {
    List<Rec> records = List.of(words).stream()
        .map(word -> new Rec(key.apply(word), new Text("v")))
        .collect(java.util.stream.Collectors.toList());
    new MofWriter(harness.job).segment(0, 0, records).publish(ReduceHarness.map(0, 0));
    harness.umbilical.event(ReduceHarness.map(0, 0), Status.SUCCEEDED);
  }

  /** By prefixes in either thread; what they leave open only where two keys are in one batch. */
  @ParameterizedTest
  @CsvSource({"auto, b, a", "off, b, a", "auto, a common prefix and b, a common prefix and a",
      "auto, a common prefix and b, a common prefix"})
  void W1_disorderFailsTheAttempt(String thread, String first, String second) throws Exception {
    harness.job.set("vas.shuffle.merge-thread", thread);
    publish("a", first, second);
    DisorderException e = failure();
    assertTrue(e.getMessage().startsWith("job_20260101_0001, attempt_20260101_0001_r_000000_0:"
        + " record 3 of the merged map outputs sorts before the one before it"), e::getMessage);
    assertTrue(e.getMessage().contains("vas.shuffle.enabled=false"), e::getMessage);
  }

  // The old interface wraps what the iterator throws.
  private DisorderException failure() {
    Throwable thrown = assertThrows(Exception.class, harness::run);
    return (DisorderException) (thrown instanceof IOException ? thrown : thrown.getCause());
  }

  @Test
  void W1_equalKeysAreInOrder() throws Exception {
    publish("", "", "a", "a", "a common prefix", "a common prefix", "a common prefix and b");
    assertEquals(4, harness.run().size());
  }

  /** A comparator that contradicts itself, as in jobs that shuffle their records. */
  public static class Changing extends WritableComparator {
    private static final AtomicLong CALLS = new AtomicLong();

    public Changing() {
      super(Text.class, true);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public int compare(WritableComparable left, WritableComparable right) {
      return CALLS.incrementAndGet() % 3 == 0 ? -1 : 1;
    }
  }

  @ParameterizedTest
  @CsvSource({"auto", "off"})
  void W1_aComparatorThatContradictsItselfSucceedsAsInStock(String thread) throws Exception {
    harness.job.set("vas.shuffle.merge-thread", thread);
    harness.job.setOutputKeyComparatorClass(Changing.class);
    publish("a", "b", "c", "d");
    assertEquals(4, harness.run().size());
  }

  @Test
  void W1_theJobsWordThatItsClassesAreSafeIsChecked() throws Exception {
    harness.job.set("vas.shuffle.merge-thread", "on");
    harness.job.setOutputKeyComparatorClass(Changing.class);
    publish("a", "b", "c", "d");
    DisorderException e = failure();
    assertTrue(e.getMessage().endsWith(Changing.class.getName() + " or org.apache.hadoop.io.Text is"
        + " not safe in two threads at once, or contradicts itself; set"
        + " vas.shuffle.merge-thread=auto"), e::getMessage);
  }

  /** A key whose order changes, compared by the comparator that Hadoop has for any key class. */
  public static class ChangingKey extends Text {
    private static final AtomicLong CALLS = new AtomicLong();

    public ChangingKey() {}

    ChangingKey(String word) {
      super(word);
    }

    @Override
    public int compareTo(BinaryComparable other) {
      return CALLS.incrementAndGet() % 3 == 0 ? -1 : 1;
    }
  }

  @Test
  void W1_theJobsWordIsCheckedForAKeyClassWithoutAComparatorOfItsOwn() throws Exception {
    harness.job.set("vas.shuffle.merge-thread", "on");
    harness.job.setMapOutputKeyClass(ChangingKey.class);
    publish(ChangingKey::new, "a", "b", "c", "d");
    DisorderException e = failure();
    assertTrue(e.getMessage().endsWith(ChangingKey.class.getName() + " is not safe in two threads"
        + " at once, or contradicts itself; set vas.shuffle.merge-thread=auto"), e::getMessage);
  }
}
