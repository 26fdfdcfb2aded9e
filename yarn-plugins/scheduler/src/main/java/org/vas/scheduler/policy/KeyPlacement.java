package org.vas.scheduler.policy;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Decides which rack and ANY rows of one key are strict right now, and so wait for their hosts.
 *
 * <p>A row is strict as long as a host it covers is worth waiting for. Rows that cover no host of
 * the site are never strict, and neither is ANY while the key asks for more containers than its
 * host rows do.
 */
final class KeyPlacement {
  static final String ANY = "*";
  private static final int ROUNDS = 2;

  private final AskKey key;
  private final WaitLimits limits;
  private final Map<String, AskRow> rows = new HashMap<>();
  private final Map<String, HostWait> waits = new LinkedHashMap<>();
  private final IdleTime idle;
  private final HostWait unplaced = new HostWait(PlacementEvent.NO_HOST);
  private boolean untouched;
  private boolean owned;

  /** Per rack with something outstanding: the wait that opened it, or null while it is strict. */
  private final Map<String, HostWait> racks = new HashMap<>();
  private HostWait anyOpenedBy;
  private boolean anyStrict;
  private boolean everywhere;
  private long work;

  KeyPlacement(AskKey key, WaitLimits limits) {
    this.key = key;
    this.limits = limits;
    idle = new IdleTime(key);
  }

  static boolean isHost(String name) {
    return !name.equals(ANY) && !name.startsWith("/");
  }

  /**
   * Notes that the application places these asks itself: no row of this key is rewritten any more.
   */
  void leaveUntouched() {
    untouched = true;
  }

  void ask(String name, int count, ClusterView view) {
    work++;
    row(name).ask(count);
    if (count > 0 && isHost(name) && view.knows(name)) {
      waits.computeIfAbsent(name, HostWait::new);
      owned = true;
    }
  }

  /** Takes over the counts the scheduler holds; a row it does not name has been granted away. */
  void observe(Map<String, Integer> live, ClusterView view) {
    rows.forEach((name, row) -> row.observe(live.getOrDefault(name, 0)));
    live.forEach((name, count) -> {
      if (!rows.containsKey(name)) {
        ask(name, count, view);
      }
    });
    work += rows.size();
  }

  /**
   * Returns whether this policy sets the rows. Stays true when the application takes its host rows
   * back, so that ANY is opened again.
   */
  boolean isManaged() {
    return owned && !untouched;
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Returns whether the row may be granted to nodes that were not asked for by name. */
  boolean isRelaxed(String name) {
    if (!isManaged() || everywhere) {
      return true;
    }
    return name.equals(ANY) ? !anyStrict : !racks.containsKey(name) || racks.get(name) != null;
  }

  void decide(long now, ClusterView view, Consumer<PlacementEvent> events) {
    rows.values().removeIf(AskRow::isEmpty);
    waits.keySet().removeIf(host -> !rows.containsKey(host));
    racks.clear();
    anyStrict = false;
    anyOpenedBy = null;
    everywhere = false;
    if (!isManaged()) {
      return;
    }
    long idled = idle.until(now, view, node -> live(node) > 0);
    waits.values().forEach(wait -> decideHost(wait, now, idled, view, events));
    decideUnplaced(now, events);
    anyStrict = !racks.isEmpty() && anyOpenedBy == null;
  }

  private void decideHost(HostWait wait, long now, long idled, ClusterView view,
      Consumer<PlacementEvent> events) {
    work++;
    if (live(wait.host()) == 0) {
      wait.end();
      return;
    }
    int running = view.running(key, wait.host());
    boolean behind = isBehind(wait.host(), running, view);
    wait.idled(behind ? limits.besideHostBehind(idled) : idled);
    wait.begin(now);
    if (running > 0) {
      wait.served(now);
    }
    String rack = view.rackOf(wait.host());
    RemoteCause trouble =
        asked(rack) == 0 ? RemoteCause.RACK_MISMATCH : view.trouble(key, wait.host());
    if (wait.advance(now, trouble, partnerUsable(wait.host(), rack, view), limits)) {
      events.accept(event(wait, now));
    }
    open(wait, rack, now);
  }

  /**
   * Tells whether a host is full, and what is asked for needs more than two rounds of what it runs.
   * In the last waves of a balanced job no host is, however uneven its tasks are.
   */
  private boolean isBehind(String host, int running, ClusterView view) {
    return running > 0 && live(host) > ROUNDS * running && !view.hasRoom(key, host);
  }

  private boolean partnerUsable(String host, String rack, ClusterView view) {
    Optional<String> partner = view.partnerOf(host);
    return partner.isPresent()
        && view.trouble(key, partner.get()) == RemoteCause.NONE
        && asked(rack) > 0
        && view.rackOf(partner.get()).equals(rack);
  }

  private void open(HostWait wait, String rack, long now) {
    HostWait opened = wait.stage() == WaitStage.STRICT ? null : longer(wait, racks.get(rack), now);
    if (opened != null || !racks.containsKey(rack)) {
      racks.put(rack, opened);
    }
    if (wait.stage() == WaitStage.ANY) {
      openAny(wait, now);
    }
  }

  private void openAny(HostWait wait, long now) {
    anyOpenedBy = longer(wait, anyOpenedBy, now);
    // YARN grants from ANY on a node only when that node's own rack row is used up or relaxed.
    everywhere |= wait.waited(now) >= limits.totalMillis();
  }

  private void decideUnplaced(long now, Consumer<PlacementEvent> events) {
    int named = waits.keySet().stream().mapToInt(this::asked).sum();
    if (asked(ANY) <= named) {
      unplaced.end();
      return;
    }
    unplaced.begin(now);
    if (unplaced.advance(now, RemoteCause.UNPLACED, false, limits)) {
      events.accept(event(unplaced, now));
    }
    openAny(unplaced, now);
  }

  private PlacementEvent event(HostWait wait, long now) {
    return PlacementEvent.stage(key, wait.host(), wait.stage(), wait.waited(now), wait.cause());
  }

  /** Records a granted container in the rows that the scheduler has counted down for it. */
  PlacementEvent granted(String node, long now, ClusterView view) {
    work++;
    String rack = view.rackOf(node);
    rowGranted(ANY);
    if (asked(node) > 0) {
      rowGranted(node);
      rowGranted(rack);
      return local(node, now);
    }
    GrantLocality locality = asked(rack) > 0 ? GrantLocality.PARTNER : GrantLocality.REMOTE;
    rowGranted(rack);
    HostWait wait = locality == GrantLocality.PARTNER ? racks.get(rack) : anyOpenedBy;
    return wait == null
        ? PlacementEvent.grant(key, PlacementEvent.NO_HOST, node, locality, 0, RemoteCause.NONE)
        : PlacementEvent.grant(key, wait.host(), node, locality, wait.waited(now), wait.cause());
  }

  private PlacementEvent local(String node, long now) {
    HostWait wait = waits.get(node);
    long waited = wait == null ? 0 : wait.unserved(now);
    if (wait != null) {
      wait.served(now);
    }
    return PlacementEvent.grant(key, node, node, GrantLocality.LOCAL, waited, RemoteCause.NONE);
  }

  /** Returns the number of rows and hosts looked at so far: what a decision costs, counted. */
  long work() {
    return work + idle.work();
  }

  private static HostWait longer(HostWait one, HostWait other, long now) {
    return other == null || one.waited(now) > other.waited(now) ? one : other;
  }

  private AskRow row(String name) {
    return rows.computeIfAbsent(name, n -> new AskRow());
  }

  private void rowGranted(String name) {
    AskRow row = rows.get(name);
    if (row != null) {
      row.granted();
    }
  }

  private int asked(String name) {
    AskRow row = rows.get(name);
    return row == null ? 0 : row.asked();
  }

  private int live(String name) {
    AskRow row = rows.get(name);
    return row == null ? 0 : row.live();
  }
}
