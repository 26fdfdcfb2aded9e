package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.util.Optional;
import java.util.function.IntPredicate;
import org.apache.hadoop.fs.FileSystem.Statistics;
import org.vas.layout.StripeLayout;
import org.vas.layout.StripeRun;

/** Counts the bytes of one open file that a caller got: all, and those from a local OST. */
final class ReadCounter {
  // Long enough to look owners up rarely, short enough to notice a failover.
  private static final long WINDOW = 64 << 20;

  private final Statistics all;
  private final Statistics local;
  private final Optional<StripeLayout> layout;
  private final IntPredicate isLocalOst;
  private volatile Span span = new Span(0, 0, false);

  /**
   * Makes a counter; without a layout, or on a machine that is not of the site, no byte is local.
   */
  ReadCounter(Statistics all, Statistics local, Optional<StripeLayout> layout,
      IntPredicate isLocalOst) {
    this.all = requireNonNull(all, "all");
    this.local = requireNonNull(local, "local");
    this.layout = requireNonNull(layout, "layout");
    this.isLocalOst = requireNonNull(isLocalOst, "isLocalOst");
  }

  /**
   * Counts the bytes {@code [position, position + count)} of the file, which a caller got; any
   * thread may call.
   */
  void add(long position, long count) {
    if (count <= 0) {
      return;
    }
    all.incrementBytesRead(count);
    long mine = layout.isPresent() ? localBytes(layout.get(), position, position + count) : 0;
    if (mine > 0) {
      local.incrementBytesRead(mine);
    }
  }

  private long localBytes(StripeLayout known, long start, long end) {
    long bytes = 0;
    long position = start;
    while (position < end) {
      Span now = spanAt(known, position);
      long until = Math.min(end, now.end);
      bytes += now.isLocal ? until - position : 0;
      position = until;
    }
    return bytes;
  }

  private Span spanAt(StripeLayout known, long position) {
    Span now = span;
    if (position < now.start || position >= now.end) {
      StripeRun run = known.ownersOf(position, WINDOW).get(0);
      now = new Span(run.offset(), run.end(), isLocalOst.test(run.ostIndex()));
      span = now;
    }
    return now;
  }

  private static final class Span {
    private final long start;
    private final long end;
    private final boolean isLocal;

    Span(long start, long end, boolean isLocal) {
      this.start = start;
      this.end = end;
      this.isLocal = isLocal;
    }
  }
}
