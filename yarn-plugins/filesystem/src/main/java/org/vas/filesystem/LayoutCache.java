package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.layout.LayoutException;
import org.vas.layout.StripeLayout;

/**
 * Keeps layouts of files, each as long as the file's inode and ctime are the same, and for a
 * bounded time: to release an archived file takes its objects away and leaves its ctime as it was.
 * A layout is only a hint about where to run a task, so a file without a readable one is a file of
 * unknown owners, not an error.
 */
final class LayoutCache {
  private static final Logger LOG = LoggerFactory.getLogger(LayoutCache.class);

  private final LustreFiles files;
  private final Map<Key, Known> known;
  private final long ttlNanos;
  private final LongSupplier nanoClock;

  /**
   * Makes an empty cache.
   *
   * @param capacity layouts kept; beyond it the one that was asked for least recently is dropped
   * @param ttl how long each is good for
   * @param nanoClock a monotonic clock in nanoseconds
   */
  LayoutCache(LustreFiles files, int capacity, Duration ttl, LongSupplier nanoClock) {
    this.files = requireNonNull(files, "files");
    this.ttlNanos = ttl.toNanos();
    this.nanoClock = requireNonNull(nanoClock, "nanoClock");
    this.known = new LinkedHashMap<>(16, 0.75f, true) {
      private static final long serialVersionUID = 1L;

      @Override
      protected boolean removeEldestEntry(Map.Entry<Key, Known> eldest) {
        return size() > capacity;
      }
    };
  }

  /**
   * Returns the layout of a file; empty where it has none that can be read.
   *
   * @param found the identity of the file, which was just looked at
   */
  Optional<StripeLayout> layoutOf(Path file, FileId found) {
    Key key = new Key(file, found);
    long now = nanoClock.getAsLong();
    synchronized (known) {
      Known earlier = known.get(key);
      if (earlier != null && now - earlier.readAt < ttlNanos) {
        return earlier.layout;
      }
    }
    return read(key, now);
  }

  private Optional<StripeLayout> read(Key key, long now) {
    try {
      Optional<StripeLayout> layout = decode(key.file, files.layout(key.file));
      synchronized (known) {
        known.put(key, new Known(layout, now));
      }
      return layout;
    } catch (IOException e) {
      LOG.debug("{}: layout not read", Descriptor.shown(key.file), e);
      return Optional.empty();
    }
  }

  private static Optional<StripeLayout> decode(Path file, Optional<byte[]> bytes) {
    if (bytes.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(StripeLayout.decode(bytes.get()));
    } catch (LayoutException e) {
      LOG.warn("{}: lustre.lov: {}; its blocks have no location",
          Descriptor.shown(file), e.getMessage());
      return Optional.empty();
    }
  }

  private static final class Known {
    private final Optional<StripeLayout> layout;
    private final long readAt;

    Known(Optional<StripeLayout> layout, long readAt) {
      this.layout = layout;
      this.readAt = readAt;
    }
  }

  /**
   * A file in one state, by inode and ctime. To replace it or to change its attributes changes its key. A write need
   * not: without a question for the size the ctime is the MDT's, so a progressive file that grows into its next
   * component keeps its key, and its old layout for as long as one is good for. The path is only where to read: of one
   * file there are many, links and descriptors among them.
   */
  private static final class Key {
    private final Path file;
    private final long inode;
    private final long changed;

    Key(Path file, FileId found) {
      this.file = requireNonNull(file, "file");
      this.inode = found.inode();
      this.changed = found.changedNanos();
    }

    @Override
    public boolean equals(Object other) {
      if (!(other instanceof Key)) {
        return false;
      }
      Key that = (Key) other;
      return inode == that.inode && changed == that.changed;
    }

    @Override
    public int hashCode() {
      return Objects.hash(inode, changed);
    }
  }
}
