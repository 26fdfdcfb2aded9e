package org.vas.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.vas.layout.Layouts.plain;
import static org.vas.layout.StripeRun.UNKNOWN;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

class OwnershipPropertyTest {
  @Property
  void runsCoverTheRangeAndNameTheFormulasOst(
      @ForAll @IntRange(min = 1, max = 50) int stripeSize,
      @ForAll @Size(min = 1, max = 8) List<@IntRange(max = 5) Integer> osts,
      @ForAll @LongRange(max = 1_000_000_000_000L) long offset,
      @ForAll @IntRange(max = 500) int length) {
    PlainLayout layout = plain(stripeSize, osts.stream().mapToInt(ost -> ost).toArray());
    long position = offset;
    int before = UNKNOWN;
    for (StripeRun run : layout.ownersOf(offset, length)) {
      assertEquals(position, run.offset());
      assertTrue(run.length() > 0 && run.ostIndex() != before, run::toString);
      for (long at = run.offset(); at < run.end(); at++) {
        assertEquals(osts.get((int) (at / stripeSize % osts.size())), run.ostIndex());
      }
      position = run.end();
      before = run.ostIndex();
    }
    assertEquals(offset + length, position);
  }

  @Property
  void sharesAreTheSumsOfTheRuns(
      @ForAll @IntRange(min = 1, max = 50) int stripeSize,
      @ForAll @Size(min = 1, max = 8) List<@IntRange(max = 5) Integer> osts,
      @ForAll @LongRange(max = 1_000_000_000_000L) long offset,
      @ForAll @IntRange(max = 500) int length) {
    PlainLayout layout = plain(stripeSize, osts.stream().mapToInt(ost -> ost).toArray());
    Map<Integer, Long> byRuns = new HashMap<>();
    layout.forEachRun(offset, length,
        run -> byRuns.merge(run.ostIndex(), run.length(), Long::sum));
    Map<Integer, Long> byShares = new HashMap<>();
    layout.forEachShare(offset, length, (ost, bytes) -> byShares.merge(ost, bytes, Long::sum));
    assertEquals(byRuns, byShares);
  }
}
