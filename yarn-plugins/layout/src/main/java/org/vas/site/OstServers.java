package org.vas.site;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Tells which host serves an OST now: the one whose NID this machine's Lustre client uses, so that
 * a failed-over OST is found at the HA partner; else the one the cluster map names.
 * Safe for use by several threads.
 */
public final class OstServers {
  private static final Duration MISS_PAUSE = Duration.ofSeconds(1);

  private final ClusterMap map;
  private final Path root;
  private final String localHost;
  private final long ttlNanos;
  private final LongSupplier nanoClock;
  private volatile Snapshot snapshot;

  /**
   * Makes a lookup that reads this machine's {@code /sys}.
   *
   * @param localHost this machine's name in the map: what the NID {@code 0@lo} means
   * @param ttl how long an answer of the client is good for
   */
  public OstServers(ClusterMap map, String localHost, Duration ttl) {
    this(map, Path.of("/"), localHost, ttl, System::nanoTime);
  }

  /**
   * Makes a lookup that reads the client's answers below a directory.
   *
   * @param root the directory that stands for {@code /}
   * @param localHost this machine's name in the map: what the NID {@code 0@lo} means
   * @param ttl how long an answer of the client is good for
   * @param nanoClock a monotonic clock in nanoseconds
   */
  public OstServers(ClusterMap map, Path root, String localHost, Duration ttl,
      LongSupplier nanoClock) {
    this.map = requireNonNull(map, "map");
    this.root = requireNonNull(root, "root");
    this.localHost = requireNonNull(localHost, "localHost");
    this.ttlNanos = ttl.toNanos();
    this.nanoClock = requireNonNull(nanoClock, "nanoClock");
  }

  /**
   * Returns the host that serves the OST; empty when neither the client nor the map knows the OST.
   */
  public Optional<SiteHost> ownerOf(int ostIndex) {
    if (ostIndex < 0) {
      return Optional.empty();
    }
    Snapshot now = current(ostIndex);
    return Optional.ofNullable(now.owners.get(ostIndex)).or(() -> map.hostByOst(ostIndex));
  }

  /** Drops the client's answers, so that the next question reads them again: an owner was wrong. */
  public void refresh() {
    snapshot = null;
  }

  private Snapshot current(int ostIndex) {
    Snapshot last = snapshot;
    long now = nanoClock.getAsLong();
    if (last == null || now - last.readAt >= lifetime(last, ostIndex)) {
      last = new Snapshot(now, OscImports.read(map, root, localHost));
      snapshot = last;
    }
    return last;
  }

  // An unknown OST is looked for sooner: it may be new. But not for each of 10,000 stripes.
  private long lifetime(Snapshot last, int ostIndex) {
    boolean known = last.owners.containsKey(ostIndex);
    return known ? ttlNanos : Math.min(ttlNanos, MISS_PAUSE.toNanos());
  }

  private static final class Snapshot {
    private final long readAt;
    private final Map<Integer, SiteHost> owners;

    Snapshot(long readAt, Map<Integer, SiteHost> owners) {
      this.readAt = readAt;
      this.owners = owners;
    }
  }
}
