package org.vas.layout;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.vas.layout.PlainLayout.Magic;

/** Makes layouts for tests of which OST owns a byte. */
final class Layouts {
  private Layouts() {}

  /** Stripes of that size over those OSTs in that order. */
  static PlainLayout plain(long stripeSize, int... osts) {
    return withPattern(LayoutBits.PATTERN_RAID0, stripeSize, osts);
  }

  static PlainLayout withPattern(int pattern, long stripeSize, int... osts) {
    List<OstObject> objects = IntStream.of(osts)
        .mapToObj(ost -> new OstObject(ost, 1, 1, 0)).collect(Collectors.toList());
    return new PlainLayout(Magic.V1, pattern, stripeSize, osts.length, PlainLayout.NOT_TOLD,
        Optional.empty(), objects);
  }

  static LayoutComponent component(int mirror, int flags, long start, long end, StripeLayout layout) {
    return new LayoutComponent((mirror << 16) + 1L, flags, start, end, layout);
  }

  static CompositeLayout composite(LayoutComponent... components) {
    return new CompositeLayout(1, 0, 1, List.of(components));
  }

  static StripeRun run(long offset, long end, int ost) {
    return new StripeRun(offset, end - offset, ost);
  }
}
