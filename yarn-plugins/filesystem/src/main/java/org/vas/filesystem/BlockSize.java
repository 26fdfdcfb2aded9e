package org.vas.filesystem;

import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.vas.layout.PlainLayout;
import org.vas.layout.StripeLayout;

/** Decides which block size to report for a file, and so how large the splits of a job are. */
final class BlockSize {
  private final long normal;
  private final long smallest;

  BlockSize(Configuration conf) {
    this.normal = LustreConf.BLOCK_SIZE.get(conf);
    this.smallest = Math.min(normal, LustreConf.MIN_BLOCK_SIZE.get(conf));
  }

  /** Returns whether a file is so short that no layout changes its number of splits. */
  boolean isOneBlock(long length) {
    return length <= smallest;
  }

  /** Returns the block size in bytes of a file whose layout is not known. */
  long normal() {
    return normal;
  }

  /**
   * Returns the block size in bytes to report for a file: its stripe size if it has several objects
   * and each stripe is large enough for a task, else {@link #normal}, because a file on one OST can
   * be cut anywhere. In a composite layout the component at the file's end counts: it holds most
   * bytes.
   */
  long of(StripeLayout layout, long length) {
    if (isOneBlock(length)) {
      return normal;
    }
    Optional<PlainLayout> last = layout.at(Math.max(0, length - 1));
    return last.filter(plain -> plain.objects().size() > 1)
        .map(PlainLayout::stripeSize)
        .filter(size -> size >= smallest)
        .orElse(normal);
  }
}
