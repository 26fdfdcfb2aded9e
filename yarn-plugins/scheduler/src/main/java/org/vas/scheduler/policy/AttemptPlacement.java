package org.vas.scheduler.policy;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The placement of one application attempt, from heartbeat to heartbeat.
 *
 * <p>A heartbeat is: {@link #blacklist}, {@link #observe} what the scheduler holds, {@link #ask}
 * what the application changed, {@link #decide}; then {@link #isRelaxed} says how each rack and ANY
 * row has to stand in the scheduler, and {@link #granted} records what came back.
 *
 * <p>Times are milliseconds of one monotonic clock. Not thread-safe: YARN serialises the heartbeats
 * of an attempt.
 */
public final class AttemptPlacement {
  private final WaitLimits limits;
  private final ClusterView cluster;
  private final Consumer<PlacementEvent> events;
  private final Map<AskKey, KeyPlacement> keys = new HashMap<>();
  private final Set<String> blacklist = new HashSet<>();
  private final ClusterView view = new BlacklistView();
  private long workOfForgottenKeys;

  public AttemptPlacement(
      WaitLimits limits, ClusterView cluster, Consumer<PlacementEvent> events) {
    this.limits = Objects.requireNonNull(limits);
    this.cluster = Objects.requireNonNull(cluster);
    this.events = Objects.requireNonNull(events);
  }

  public void blacklist(Collection<String> additions, Collection<String> removals) {
    blacklist.addAll(additions);
    blacklist.removeAll(removals);
  }

  /** Takes the asks that the scheduler holds now, as counts by key and resource name. */
  public void observe(Map<AskKey, Map<String, Integer>> live) {
    keys.forEach((key, rows) -> {
      if (!live.containsKey(key)) {
        rows.observe(Map.of(), view);
      }
    });
    live.forEach((key, rows) -> at(key).observe(rows, view));
  }

  /** Takes a row that the application sent: its new count, not a difference. */
  public void ask(AskKey key, String name, int count) {
    at(key).ask(name, count, view);
  }

  /**
   * Lets every row of the key pass as it is, because the application decides its locality itself.
   */
  public void leaveUntouched(AskKey key) {
    at(key).leaveUntouched();
  }

  public void decide(long nowMillis) {
    keys.values().forEach(rows -> rows.decide(nowMillis, view, events));
    keys.values().removeIf(rows -> {
      workOfForgottenKeys += rows.isEmpty() ? rows.work() : 0;
      return rows.isEmpty();
    });
  }

  /**
   * Returns whether this policy sets the key's rack and ANY rows: the key names a host of the site.
   */
  public boolean isManaged(AskKey key) {
    KeyPlacement rows = keys.get(key);
    return rows != null && rows.isManaged();
  }

  /** Returns whether the row must be relaxed. Host rows always are: YARN reads only the others. */
  public boolean isRelaxed(AskKey key, String name) {
    KeyPlacement rows = keys.get(key);
    return rows == null || KeyPlacement.isHost(name) || rows.isRelaxed(name);
  }

  /** Records a container that arrived; does nothing for a key that is not managed. */
  public void granted(AskKey key, String node, long nowMillis, Consumer<PlacementEvent> grants) {
    if (isManaged(key)) {
      grants.accept(keys.get(key).granted(node, nowMillis, view));
    }
  }

  /** Returns the number of rows and hosts looked at so far: what the decisions cost, counted. */
  public long work() {
    return workOfForgottenKeys + keys.values().stream().mapToLong(KeyPlacement::work).sum();
  }

  private KeyPlacement at(AskKey key) {
    return keys.computeIfAbsent(key, k -> new KeyPlacement(k, limits));
  }

  /** The cluster as this application sees it: without what it has blacklisted. */
  private final class BlacklistView implements ClusterView {
    @Override
    public boolean knows(String host) {
      return cluster.knows(host);
    }

    @Override
    public RemoteCause trouble(AskKey key, String host) {
      return blacklist.contains(host) || blacklist.contains(rackOf(host))
          ? RemoteCause.BLACKLISTED
          : cluster.trouble(key, host);
    }

    @Override
    public String rackOf(String host) {
      return cluster.rackOf(host);
    }

    @Override
    public Optional<String> partnerOf(String host) {
      return cluster.partnerOf(host);
    }

    @Override
    public Collection<String> nodes() {
      return cluster.nodes();
    }

    @Override
    public Collection<String> candidates(AskKey key) {
      return cluster.candidates(key);
    }

    @Override
    public boolean hasRoom(AskKey key, String node) {
      return cluster.hasRoom(key, node);
    }

    @Override
    public int running(AskKey key, String node) {
      return cluster.running(key, node);
    }
  }
}
