package org.vas.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.vas.layout.Layouts.component;
import static org.vas.layout.Layouts.composite;
import static org.vas.layout.Layouts.plain;
import static org.vas.layout.Layouts.run;
import static org.vas.layout.Layouts.withPattern;
import static org.vas.layout.StripeRun.UNKNOWN;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.vas.testing.CpuTime;
import org.vas.testing.Repository;

class OwnershipTest {
  private static final int INIT = LayoutBits.FLAG_INIT;
  private static final long EOF = -1;

  @Test
  void stripesGoRoundTheObjectsInTheirOrder() {
    assertEquals(
        List.of(run(0, 10, 3), run(10, 20, 1), run(20, 30, 2), run(30, 35, 3)),
        plain(10, 3, 1, 2).extents(35));
  }

  @Test
  void aRangeStartsAndEndsInsideStripes() {
    assertEquals(List.of(run(15, 20, 1), run(20, 21, 3)), plain(10, 3, 1).ownersOf(15, 6));
  }

  @Test
  void neighboursOnOneOstAreOneRun() {
    assertEquals(List.of(run(5, 1_000_005, 7)), plain(10, 7).ownersOf(5, 1_000_000));
    assertEquals(List.of(run(0, 20, 7), run(20, 30, 8), run(30, 50, 7), run(50, 51, 8)),
        withPattern(LayoutBits.PATTERN_RAID0 | LayoutBits.PATTERN_OVERSTRIPING, 10, 7, 7, 8)
            .extents(51));
  }

  @Test
  void noBytesHaveNoOwner() {
    assertEquals(List.of(), plain(10, 7).extents(0));
    assertThrows(IllegalArgumentException.class, () -> plain(10, 7).extents(-1));
  }

  @Test
  void theLastByteThereIsHasAnOwner() {
    assertEquals(List.of(run(Long.MAX_VALUE - 1, Long.MAX_VALUE, 7)),
        plain(1 << 20, 7, 7).ownersOf(Long.MAX_VALUE - 1, 99));
  }

  @Test
  void stripesCountFromTheStartOfTheFileInsideComponentsToo() {
    CompositeLayout pfl = composite(
        component(0, INIT, 0, 30, plain(10, 9)),
        component(0, INIT, 30, EOF, plain(10, 0, 1)));
    assertEquals(List.of(run(0, 30, 9), run(30, 40, 1), run(40, 45, 0)), pfl.extents(45));
  }

  @Test
  void whatNobodyWroteOrNoComponentCoversHasNoOwner() {
    CompositeLayout pfl = composite(
        component(0, INIT, 0, 10, withPattern(LayoutBits.PATTERN_MDT, 10)),
        component(0, INIT, 10, 20, plain(10, 4)),
        component(0, 0, 20, 30, plain(10)));
    assertEquals(List.of(run(0, 10, UNKNOWN), run(10, 20, 4), run(20, 99, UNKNOWN)),
        pfl.extents(99));
  }

  @Test
  void extensionSpaceIsNoPlaceYet() {
    assertEquals(List.of(run(0, 5, UNKNOWN)), composite(
        component(0, LayoutBits.FLAG_EXTENSION, 0, EOF, plain(10, 4))).extents(5));
  }

  @Test
  void ofSeveralMirrorsTheOneInSyncAndPreferredIsRead() {
    LayoutComponent stale = component(1, INIT | LayoutBits.FLAG_STALE, 0, EOF, plain(10, 1));
    LayoutComponent third = component(3, INIT, 0, EOF, plain(10, 3));
    LayoutComponent second = component(2, INIT, 0, EOF, plain(10, 2));
    LayoutComponent preferred = component(4, INIT | LayoutBits.FLAG_PREFER_READ, 0, EOF, plain(10, 4));
    assertEquals(List.of(run(0, 9, 2)), composite(stale, third, second).extents(9));
    assertEquals(List.of(run(0, 9, 4)), composite(stale, third, second, preferred).extents(9));
    assertEquals(List.of(run(0, 9, UNKNOWN)), composite(stale).extents(9));
  }

  @Test
  void aMirrorWithoutObjectsGivesWayToOneWithThem() {
    LayoutComponent empty = component(1, 0, 0, EOF, plain(10));
    LayoutComponent written = component(2, INIT, 0, EOF, plain(10, 2));
    assertEquals(List.of(run(0, 9, 2)), composite(empty, written).extents(9));
  }

  @Test
  void aReleasedFileIsOnNoOst() throws Exception {
    StripeLayout released = StripeLayout.decode(
        Files.readAllBytes(Repository.path("lustre-layout/vectors/hsm-released.bin")));
    assertEquals(List.of(run(0, 7, UNKNOWN)), released.extents(7));
  }

  @Test
  void aForeignLayoutIsOnNoOst() {
    assertEquals(List.of(run(3, 7, UNKNOWN)),
        new ForeignLayout(1, 2, new byte[] {3}).ownersOf(3, 4));
  }

  @Test
  void theStripingAtAByteIsThatOfItsComponent() {
    CompositeLayout pfl = composite(
        component(0, INIT, 0, 30, plain(10, 9)), component(0, 0, 30, 60, plain(20)));
    assertEquals(10, pfl.at(29).orElseThrow().stripeSize());
    assertEquals(20, pfl.at(30).orElseThrow().stripeSize());
    assertTrue(pfl.at(60).isEmpty());
  }

  @Test
  void sharesOfATerabyteAreToldOnceForEachObject() {
    List<Long> bytes = new ArrayList<>();
    plain(1 << 20, 0, 1, 2, 3).forEachShare(5, 1L << 40, (ost, share) -> bytes.add(share));
    assertEquals(4, bytes.size());
    assertEquals(1L << 40, bytes.stream().mapToLong(Long::longValue).sum());
  }

  @Test
  void sharesOfComponentsAreToldWithWhatNobodyOwns() {
    CompositeLayout pfl = composite(
        component(0, INIT, 0, 10, withPattern(LayoutBits.PATTERN_MDT, 10)),
        component(0, INIT, 10, 30, plain(10, 4, 5)));
    Map<Integer, Long> owned = new TreeMap<>();
    pfl.forEachShare(3, 32, (ost, share) -> owned.merge(ost, share, Long::sum));
    assertEquals(Map.of(UNKNOWN, 12L, 4, 10L, 5, 10L), owned);
  }

  @Test
  void tenThousandStripesAreQuick() throws Exception {
    PlainLayout layout = plain(128L << 20, 0, 1, 2, 3);
    long length = 10_000 * (128L << 20);
    assertEquals(10_000, layout.extents(length).size());
    double millis = CpuTime.millisOf(() -> layout.extents(length));
    assertTrue(millis < 50, () -> "took " + millis + " ms");
  }
}
