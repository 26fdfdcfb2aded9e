package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.BlockLocation;
import org.vas.layout.Guest;
import org.vas.layout.StripeLayout;
import org.vas.layout.StripeRun;

/**
 * Turns a layout into block locations, one for each block that the file system reports.
 *
 * <p>A location names the VM that owns more than half of the block's bytes, and no other: a VM
 * owns what the OSTs hold that its host serves at this moment. Where none owns so much, as where
 * small stripes go round several servers within the block, a map is as near to its bytes on any
 * VM as on any other; to name the first stripe's would send all maps there.
 *
 * <p>After a failover the HA partner's VM is named, because the Lustre client itself says that it
 * talks to the partner. While the owner serves its OST, the partner's VM is no nearer to the bytes
 * than any other: to name it would make MapReduce count a remote map as data-local. The scheduler
 * falls back to the partner by itself. For the same reason an owner without a VM, or an unknown
 * one, gives a location without hosts, and never {@code localhost}.
 */
final class BlockLocator {
  private static final String[] NOBODY = {};

  private final IntFunction<Optional<Guest>> guestOfOst;

  BlockLocator(IntFunction<Optional<Guest>> guestOfOst) {
    this.guestOfOst = requireNonNull(guestOfOst, "guestOfOst");
  }

  /**
   * The locations of the blocks in a byte range that lies within the file; the first and the last
   * are cut to the range, and owned by whoever owns the whole block.
   *
   * @param fileLength bytes; the last block ends there
   * @param blockSize bytes
   */
  BlockLocation[] locate(
      StripeLayout layout, long fileLength, long blockSize, long offset, long length) {
    Map<Integer, Optional<Guest>> guests = new HashMap<>();
    IntFunction<Optional<Guest>> guestOf = ostIndex -> ostIndex == StripeRun.UNKNOWN
        ? Optional.empty() : guests.computeIfAbsent(ostIndex, guestOfOst::apply);
    long end = offset + length;
    long first = offset / blockSize;
    int count = Math.toIntExact((end - 1) / blockSize - first + 1);
    BlockLocation[] locations = new BlockLocation[count];
    for (int i = 0; i < count; i++) {
      long start = (first + i) * blockSize;
      long bytes = Math.min(blockSize, fileLength - start);
      long from = Math.max(start, offset);
      locations[i] = location(
          from, Math.min(start + bytes, end) - from, owner(layout, start, bytes, guestOf));
    }
    return locations;
  }

  /** The one location of bytes whose OSTs nobody knows. */
  static BlockLocation nowhere(long offset, long length) {
    return location(offset, length, Optional.empty());
  }

  private static Optional<Guest> owner(StripeLayout layout, long offset, long length,
      IntFunction<Optional<Guest>> guestOf) {
    Map<Guest, Long> owned = new HashMap<>();
    layout.forEachShare(offset, length, (ostIndex, bytes) -> guestOf.apply(ostIndex)
        .ifPresent(guest -> owned.merge(guest, bytes, Long::sum)));
    return owned.entrySet().stream()
        .filter(entry -> entry.getValue() > length - entry.getValue())
        .map(Map.Entry::getKey).findFirst();
  }

  private static BlockLocation location(long offset, long length, Optional<Guest> guest) {
    String[] names = guest.map(vm -> new String[] {vm.address()}).orElse(NOBODY);
    String[] hosts = guest.map(vm -> new String[] {vm.name()}).orElse(NOBODY);
    return new BlockLocation(names, hosts, offset, length);
  }
}
