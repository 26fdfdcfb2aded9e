package org.vas.shuffle.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;

class MemoryPlanTest {
  private static final int KIB = 1 << 10;

  private static SegmentFile segment(int stored) {
    return new SegmentFile(new Path("/x"), new Segment(0, 0, 0, 0, stored, stored, 1,
        new int[(int) Segment.checksumsOf(stored)]));
  }

  @Property(tries = 500)
  void theBoundHoldsWhereverAnyBufferFits(
      @ForAll @LongRange(min = 600 << 10, max = 64 << 20) long budget,
      @ForAll @IntRange(min = 0, max = 1 << 20) int decode,
      @ForAll @Size(max = 60) List<@IntRange(min = 1, max = 3 << 20) Integer> sizes) {
    MemoryPlan plan = new MemoryPlan(budget, 1 << 20, decode);
    List<SegmentFile> segments = new ArrayList<>();
    sizes.forEach(size -> segments.add(segment(size)));
    int buffer = plan.bufferBytes(segments);
    assertEquals(0, buffer % Segment.CHECKSUM_BYTES);
    long used = MemoryPlan.BATCHES * Batch.memory(plan.batchBytes());
    for (SegmentFile each : segments) {
      used += ReadAhead.memory(each.segment(), buffer) + decode;
    }
    if (plan.fits(segments) && segments.size() > 2) {
      assertTrue(used <= budget, used + " of " + budget);
    }
  }

  @Test
  void openFilesAreBoundedWhateverTheMemory() {
    MemoryPlan plan = new MemoryPlan(8L << 30, 1 << 20, 0);
    assertEquals(1000, plan.fanIn());
    assertTrue(plan.fits(Collections.nCopies(1000, segment(4 << 20))));
    assertFalse(plan.fits(Collections.nCopies(1001, segment(1))));
    SegmentFile held = segment(KIB).holding(new byte[KIB]);
    assertTrue(plan.fits(Collections.nCopies(5000, held)), "no file is opened for them");
  }

  @Test
  void buffersShrinkBeforeAPassIsMade() {
    List<SegmentFile> ten = Collections.nCopies(10, segment(4 << 20));
    assertEquals(1 << 20, new MemoryPlan(64 << 20, 1 << 20, 0).bufferBytes(ten));
    MemoryPlan small = new MemoryPlan(4 << 20, 1 << 20, 0);
    assertEquals(128 * KIB, small.bufferBytes(ten));
    assertTrue(small.fits(ten));
    assertFalse(new MemoryPlan(1 << 20, 1 << 20, 0).fits(ten));
    assertTrue(new MemoryPlan(1 << 20, 1 << 20, 0).fits(Collections.nCopies(500, segment(KIB))));
  }

  /** Four look at once, while as much as may be is held. */
  @Property(tries = 500)
  void P1_looksAreWithinTheBudget(
      @ForAll @LongRange(min = 2 << 20, max = 8L << 30) long budget) {
    MemoryPlan plan = new MemoryPlan(budget, 1 << 20, 0);
    long all = plan.toHold() + ReadPool.THREADS * plan.toLook();
    assertTrue(all <= budget, () -> all + " of " + budget);
    assertTrue(plan.toLook() >= 2 * Segment.CHECKSUM_BYTES);
  }

  /** What is known of segments is memory that their buffers do not get, in a pass neither. */
  @Test
  void P1_whatIsKnownOfSegmentsIsCounted() {
    SegmentFile large = segment(1 << 30);
    MemoryPlan plan = new MemoryPlan(40 << 20, 1 << 20, 0);
    List<SegmentFile> ten = Collections.nCopies(10, large);
    assertEquals(10 * (192 + 4 * (1 << 14)), SegmentFile.memory(ten));
    List<SegmentFile> many = Collections.nCopies(500, large);
    assertTrue(plan.besides(many).fanIn() < plan.fanIn());
    assertTrue(plan.besides(many).forPass(40 << 20, 0).fanIn()
        < plan.forPass(40 << 20, 0).fanIn());
    assertTrue(plan.besides(ten).bufferBytes(many) <= plan.bufferBytes(many));
  }

  @Test
  void anyMemoryIsEnoughForTwo() {
    assertEquals(2, new MemoryPlan(0, 1 << 20, 1 << 20).fanIn());
  }

  @Test
  void aPassHasAWriterInPlaceOfBatches() {
    MemoryPlan plan = new MemoryPlan(20 << 20, 1 << 20, 1 << 20);
    assertTrue(plan.forPass(20 << 20, 9 << 20).fanIn() < plan.fanIn());
    assertEquals(2, plan.forPass(20 << 20, 30 << 20).fanIn());
  }

  /** The fewest that have to be: so many inputs as are too many, and one more for each pass. */
  @Property(tries = 500)
  void noMoreIsMergedThanHasToBe(@ForAll @IntRange(min = 2, max = 50) int fanIn,
      @ForAll @IntRange(min = 1, max = 50) int most,
      @ForAll @IntRange(min = 1, max = 500) int segments) {
    List<Integer> left = new ArrayList<>(Collections.nCopies(segments, 1));
    int surplus = segments - most;
    int passes = 0;
    int merged = 0;
    while (left.size() > most) {
      List<Integer> next = PassPlan.next(left, each -> each, most, fanIn);
      assertTrue(next.size() >= 2 && next.size() <= fanIn);
      passes++;
      merged += next.size();
      next.subList(1, next.size()).clear();
    }
    assertEquals(Math.max(0, (surplus + fanIn - 2) / (fanIn - 1)), passes);
    assertEquals(surplus <= 0 ? 0 : surplus + passes, merged);
  }

  @Test
  void theSmallestNeighboursAreMerged() {
    assertEquals(List.of(2L, 2L), PassPlan.next(List.of(9L, 1L, 9L, 2L, 2L, 9L), b -> b, 5, 2));
    assertEquals(List.of(1L, 1L), PassPlan.next(List.of(1L, 1L, 1L), b -> b, 2, 9));
  }
}
