package org.vas.filesystem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.BlockLocation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.vas.layout.LayoutException;
import org.vas.layout.PlainLayout;
import org.vas.layout.StripeLayout;
import org.vas.layout.StripeRun;
import org.vas.site.ClusterMap;
import org.vas.site.SiteGuest;
import org.vas.site.SiteHost;

class BlockLocatorTest {
  private static final long MIB = 1 << 20;

  private ClusterMap map;

  @BeforeEach
  void readTheMap() throws Exception {
    map = ClusterMap.load(Path.of("src/test/resources/cluster.yaml"));
  }

  private Optional<SiteGuest> guestOf(int ostIndex) {
    return map.hostByOst(ostIndex).flatMap(host -> host.guestFor(ostIndex));
  }

  private static StripeLayout stripesOfOneMib(int... osts) throws LayoutException {
    return StripeLayout.decode(LovBytes.plain(MIB, osts));
  }

  @Test
  void aVmOwnsWhatAllOstsOfItsHostHold() throws Exception {
    IntFunction<Optional<SiteGuest>> failedOver = ostIndex -> guestOf(ostIndex == 1 ? 0 : ostIndex);
    BlockLocation[] got = new BlockLocator(failedOver)
        .locate(stripesOfOneMib(0, 1, 2), 128 * MIB, 128 * MIB, 0, 128 * MIB);
    assertEquals(1, got.length);
    assertArrayEquals(new String[] {"vm1"}, got[0].getHosts());
  }

  @Test
  void theStorageIdIsTheOstOfMostOfTheBlock() throws Exception {
    BlockLocator locator = new BlockLocator(this::guestOf);
    assertArrayEquals(new String[] {"OST000b"},
        locator.locate(stripesOfOneMib(11), 8 * MIB, 8 * MIB, 0, 1)[0].getStorageIds());
    assertEquals(0,
        locator.locate(stripesOfOneMib(0, 1), 8 * MIB, 8 * MIB, 0, 1)[0].getStorageIds().length);
  }

  @Test
  void aTerabyteOfSmallStripesCostsNoMoreThanItsBlocksAndObjects() throws Exception {
    AtomicInteger lookups = new AtomicInteger();
    CountedLayout layout = new CountedLayout(stripesOfOneMib(0, 1, 2, 3));
    BlockLocation[] got = new BlockLocator(ostIndex -> {
      lookups.incrementAndGet();
      return guestOf(ostIndex);
    }).locate(layout, MIB * MIB, 128 * MIB, 0, MIB * MIB);
    assertEquals(8192, got.length);
    assertNobody(got);
    assertEquals(4, lookups.get());
    assertTrue(layout.shares.get() <= 8192 * 4, layout.shares::toString);
  }

  private static void assertNobody(BlockLocation... locations) throws IOException {
    for (BlockLocation location : locations) {
      assertEquals(0, location.getHosts().length, location::toString);
    }
  }

  /** Counts the shares told, and lets nobody walk along the stripes. */
  private static final class CountedLayout implements StripeLayout {
    private final StripeLayout counted;
    private final AtomicInteger shares = new AtomicInteger();

    CountedLayout(StripeLayout counted) {
      this.counted = counted;
    }

    @Override
    public void forEachRun(long offset, long length, Consumer<StripeRun> sink) {
      throw new AssertionError("one run for each of the stripes");
    }

    @Override
    public void forEachShare(long offset, long length, ShareSink sink) {
      counted.forEachShare(offset, length, (ostIndex, bytes) -> {
        shares.incrementAndGet();
        sink.add(ostIndex, bytes);
      });
    }

    @Override
    public Optional<PlainLayout> at(long offset) {
      return counted.at(offset);
    }
  }
}
