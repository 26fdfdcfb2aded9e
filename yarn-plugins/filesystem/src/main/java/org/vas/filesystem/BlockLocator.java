package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.BlockLocation;
import org.vas.layout.Guest;
import org.vas.layout.StripeLayout;
import org.vas.layout.StripeRun;

/**
 * Turns a layout into block locations: one for each run of bytes on one OST.
 *
 * <p>A location names the VM on the host that serves the OST at this moment, and no other. After a
 * failover that is the HA partner's VM, because the Lustre client itself says that it talks to the
 * partner. While the owner serves its OST, the partner's VM is no nearer to the bytes than any
 * other: to name it would make MapReduce count a remote map as data-local. The scheduler falls
 * back to the partner by itself. For the same reason an owner without a VM, or an unknown one,
 * gives a location without hosts, and never {@code localhost}.
 */
final class BlockLocator {
  private static final String[] NOBODY = {};

  private final IntFunction<Optional<Guest>> guestOfOst;

  BlockLocator(IntFunction<Optional<Guest>> guestOfOst) {
    this.guestOfOst = requireNonNull(guestOfOst, "guestOfOst");
  }

  /** The locations of a byte range that lies within the file. */
  BlockLocation[] locate(StripeLayout layout, long offset, long length) {
    List<StripeRun> runs = layout.ownersOf(offset, length);
    Map<Integer, Optional<Guest>> guests = new HashMap<>();
    BlockLocation[] locations = new BlockLocation[runs.size()];
    for (int i = 0; i < locations.length; i++) {
      StripeRun run = runs.get(i);
      Optional<Guest> guest = run.isKnown()
          ? guests.computeIfAbsent(run.ostIndex(), guestOfOst::apply)
          : Optional.empty();
      locations[i] = location(run.offset(), run.length(), guest);
    }
    return locations;
  }

  /** The one location of bytes whose OSTs nobody knows. */
  static BlockLocation nowhere(long offset, long length) {
    return location(offset, length, Optional.empty());
  }

  private static BlockLocation location(long offset, long length, Optional<Guest> guest) {
    String[] names = guest.map(vm -> new String[] {vm.address()}).orElse(NOBODY);
    String[] hosts = guest.map(vm -> new String[] {vm.name()}).orElse(NOBODY);
    return new BlockLocation(names, hosts, offset, length);
  }
}
