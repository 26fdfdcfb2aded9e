package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.BlockLocation;
import org.vas.layout.StripeLayout;
import org.vas.layout.StripeRun;
import org.vas.site.SiteGuest;

/**
 * Turns a layout into block locations, one for each block that the file system reports.
 *
 * <p>A location names the VM that owns more than half of the block's bytes, and no other: a VM owns
 * the bytes on the OSTs that its host serves at this moment. Where no VM owns so much, as where
 * small stripes go round several servers within the block, the location has no hosts: a map is as
 * near to its bytes on any VM, and to name the VM of the first stripe would send all maps there.
 *
 * <p>After a failover the HA partner's VM is named, because the Lustre client itself says that it
 * talks to the partner. While the owner serves its OST, the partner's VM is not nearer to the bytes
 * than any other: to name it would make MapReduce count a remote map as data-local. The scheduler
 * falls back to the partner by itself. For the same reason an owner without a VM, or an unknown
 * one, gives a location without hosts, and never {@code localhost}.
 *
 * <p>The location's storage id is the OST that holds more than half of the block, as Lustre writes
 * it: {@code OST000a}.
 */
final class BlockLocator {
  private static final String[] NOBODY = {};

  private final IntFunction<Optional<SiteGuest>> guestOfOst;

  BlockLocator(IntFunction<Optional<SiteGuest>> guestOfOst) {
    this.guestOfOst = requireNonNull(guestOfOst, "guestOfOst");
  }

  /**
   * Returns the locations of the blocks in a byte range that lies within the file. The first and
   * the last block are cut to the range, and have the hosts of the whole block.
   *
   * @param fileLength bytes; the last block ends there
   * @param blockSize bytes
   */
  BlockLocation[] locate(
      StripeLayout layout, long fileLength, long blockSize, long offset, long length) {
    Map<Integer, Optional<SiteGuest>> guests = new HashMap<>();
    IntFunction<Optional<SiteGuest>> guestOf = ostIndex -> ostIndex == StripeRun.UNKNOWN
        ? Optional.empty() : guests.computeIfAbsent(ostIndex, guestOfOst::apply);
    long end = offset + length;
    long first = offset / blockSize;
    int count = Math.toIntExact((end - 1) / blockSize - first + 1);
    BlockLocation[] locations = new BlockLocation[count];
    for (int i = 0; i < count; i++) {
      long start = (first + i) * blockSize;
      long bytes = Math.min(blockSize, fileLength - start);
      long from = Math.max(start, offset);
      Holders holders = new Holders(layout, start, bytes, guestOf);
      locations[i] = location(
          from, Math.min(start + bytes, end) - from, holders.guest(), holders.ost());
    }
    return locations;
  }

  /** Returns a location without hosts, for bytes whose OSTs nobody knows. */
  static BlockLocation nowhere(long offset, long length) {
    return location(offset, length, Optional.empty(), Optional.empty());
  }

  private static BlockLocation location(
      long offset, long length, Optional<SiteGuest> guest, Optional<Integer> ost) {
    String[] names = guest.map(vm -> new String[] {vm.address()}).orElse(NOBODY);
    String[] hosts = guest.map(vm -> new String[] {vm.name()}).orElse(NOBODY);
    String[] osts = ost.map(index -> new String[] {String.format("OST%04x", index)}).orElse(NOBODY);
    return new BlockLocation(names, hosts, NOBODY, NOBODY, osts, null, offset, length, false);
  }

  /** Who holds how much of one block. */
  private static final class Holders {
    private final long length;
    private final Map<SiteGuest, Long> ofGuests = new HashMap<>();
    private final Map<Integer, Long> ofOsts = new HashMap<>();

    Holders(StripeLayout layout, long offset, long length,
        IntFunction<Optional<SiteGuest>> guestOf) {
      this.length = length;
      layout.forEachShare(offset, length, (ostIndex, bytes) -> {
        guestOf.apply(ostIndex).ifPresent(guest -> ofGuests.merge(guest, bytes, Long::sum));
        if (ostIndex != StripeRun.UNKNOWN) {
          ofOsts.merge(ostIndex, bytes, Long::sum);
        }
      });
    }

    Optional<SiteGuest> guest() {
      return ofMost(ofGuests);
    }

    Optional<Integer> ost() {
      return ofMost(ofOsts);
    }

    private <T> Optional<T> ofMost(Map<T, Long> held) {
      return held.entrySet().stream()
          .filter(entry -> entry.getValue() > length - entry.getValue())
          .map(Map.Entry::getKey).findFirst();
    }
  }
}
