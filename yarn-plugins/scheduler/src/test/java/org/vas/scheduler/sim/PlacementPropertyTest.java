package org.vas.scheduler.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.vas.scheduler.policy.AskKey;
import org.vas.scheduler.policy.AttemptPlacement;
import org.vas.scheduler.policy.GrantLocality;
import org.vas.scheduler.policy.RemoteCause;
import org.vas.scheduler.policy.WaitLimits;

/**
 * An ask is held for its host only while that host is worth waiting for, and never longer than the
 * two waits while it runs nothing of the job or beside an idle node: whatever happens, in whatever
 * order.
 */
class PlacementPropertyTest {
  private static final int NODES = 6;
  private static final WaitLimits WAITS = new WaitLimits(10_000, 5_000, 1_000);

  /** One step of a history: what happens, to which node, and how much of it. */
  static final class Step {
    enum Kind { ASK, ASK_ANYWHERE, TAKE_BACK, GRANT, PASS, DIE, DECOMMISSION, REVIVE, BLACKLIST,
      FORGIVE, PREEMPTED, RUN, END }

    private final Kind kind;
    private final int node;
    private final int amount;

    Step(Kind kind, int node, int amount) {
      this.kind = kind;
      this.node = node;
      this.amount = amount;
    }

    @Override
    public String toString() {
      return kind + " vm" + node + " " + amount;
    }
  }

  @Provide
  Arbitrary<List<Step>> histories() {
    return Combinators.combine(
            Arbitraries.of(Step.Kind.class),
            Arbitraries.integers().between(0, NODES - 1),
            Arbitraries.integers().between(1, 5))
        .as(Step::new).list().ofMinSize(1).ofMaxSize(60);
  }

  @Property(tries = 1000, shrinking = ShrinkingMode.BOUNDED)
  void anAskThatWaitedLongEnoughMayRunOnAnyLiveNode(@ForAll("histories") List<Step> history) {
    World world = new World(false);
    for (Step step : history) {
      world.apply(step);
      world.heartbeat();
      world.checkOverdueAsksAreFree();
    }
  }

  @Property(tries = 1000, shrinking = ShrinkingMode.BOUNDED)
  void everyAskIsServedInTheEnd(@ForAll("histories") List<Step> history) {
    World world = new World(false);
    history.forEach(step -> {
      world.apply(step);
      world.heartbeat();
    });
    world.revive(5);
    world.serveAll();
  }

  @Property(tries = 500, shrinking = ShrinkingMode.BOUNDED)
  void nodesThatWereNotAskedForGetNothingWhileTheOwnersAreWorthWaitingFor(
      @ForAll("histories") List<Step> history) {
    World world = new World(false);
    for (Step step : history) {
      if (step.kind == Step.Kind.ASK || step.kind == Step.Kind.GRANT) {
        world.apply(step);
        world.heartbeat();
        world.checkOnlyOwnersAreOffered();
      }
    }
  }

  @Property(tries = 500, shrinking = ShrinkingMode.BOUNDED)
  void grantsOnTheOwnerDoNotKeepAnIdleNodeWaiting(
      @ForAll @IntRange(min = 1, max = 5) int secondsBetweenGrants) {
    World world = new World(true);
    world.ask("vm0", 100);
    for (long end = world.now + WAITS.totalMillis(); world.now <= end;) {
      world.heartbeat();
      world.grant("vm0");
      world.now += 1_000L * secondsBetweenGrants;
    }
    world.heartbeat();
    assertTrue(world.offered("vm4"), "an idle node is offered nothing");
    world.grant("vm0");
    world.heartbeat();
    assertTrue(world.offered("vm4"), "a grant on the owner closed the row again");
  }

  @Property(tries = 500, shrinking = ShrinkingMode.BOUNDED)
  void idleNodesThatTakeTurnsAreKeptWaitingNoLongerThanOne(
      @ForAll @Size(min = 16, max = 40) List<@IntRange(min = 1, max = NODES - 1) Integer> idle) {
    World world = new World(false);
    world.ask("vm0", 100);
    world.busy.add("vm0");
    for (int node : idle) {
      world.roomy.clear();
      world.roomy.add("vm" + node);
      world.heartbeat();
      world.now += 1_000;
    }
    assertTrue(world.offered("vm" + idle.get(idle.size() - 1)), "an idle node is offered nothing");
  }

  @Property(tries = 500, shrinking = ShrinkingMode.BOUNDED)
  void aHostThatIsOnlyBusyWithTheJobsOwnMapsIsWaitedFor(
      @ForAll @IntRange(min = 1, max = NODES) int hosts,
      @ForAll @IntRange(min = 1, max = 600) int secondsOfAMap) {
    World world = new World(false);
    for (int host = 0; host < hosts; host++) {
      world.ask("vm" + host, 3);
      world.busy.add("vm" + host);
    }
    for (int second = 0; second < secondsOfAMap; second++) {
      world.heartbeat();
      world.checkOnlyOwnersAreOffered();
      world.now += 1_000;
    }
  }

  @Property(tries = 500, shrinking = ShrinkingMode.BOUNDED)
  void everyAskIsServedInTheEndWithIdleNodesToo(@ForAll("histories") List<Step> history) {
    World world = new World(true);
    history.forEach(step -> {
      world.apply(step);
      world.heartbeat();
    });
    world.revive(5);
    world.serveAll();
  }

  /** The policy, the scheduler and the application, driven by hand. */
  private static final class World {
    private static final AskKey KEY = new AskKey(20, -1);

    private final Set<String> roomy = new HashSet<>();
    private final Set<String> busy = new HashSet<>();
    private final SimCluster cluster;
    private final SimScheduler scheduler = new SimScheduler();
    private final AttemptPlacement policy;
    private final Map<String, Integer> asked = new HashMap<>();
    private final Map<String, Integer> changed = new HashMap<>();
    private final Map<String, Long> progress = new HashMap<>();
    private final Set<String> blacklist = new HashSet<>();
    private long now;

    /** {@code idle}: whether nodes have room, so that one without asks of its own stands idle. */
    World(boolean idle) {
      cluster = new SimCluster(NODES, roomy::contains, node -> busy.contains(node) ? 1 : 0);
      roomy.addAll(idle ? cluster.nodes() : List.of());
      policy = new AttemptPlacement(WAITS, cluster, event -> { });
    }

    void apply(Step step) {
      // Before the step: what it asks reaches the policy at this time's heartbeat.
      now += 100;
      String node = "vm" + step.node;
      switch (step.kind) {
        case ASK: ask(node, step.amount); break;
        case ASK_ANYWHERE: count(SimScheduler.ANY, step.amount); break;
        case TAKE_BACK: takeBack(node); break;
        case GRANT: grant(node); break;
        case PASS: now += step.amount * 3_000L; break;
        case DIE: cluster.trouble(node, RemoteCause.DEAD_NODE); break;
        case DECOMMISSION: cluster.trouble(node, RemoteCause.DECOMMISSIONING); break;
        case REVIVE: revive(step.node); break;
        case BLACKLIST: blacklist(node); break;
        case FORGIVE: forgive(node); break;
        case PREEMPTED: preempted(node); break;
        case RUN: busy.add(node); break;
        case END: busy.remove(node); break;
      }
    }

    private void ask(String node, int amount) {
      progress.putIfAbsent(node, now);
      if (scheduler.counts().getOrDefault(node, 0) == 0) {
        progress.put(node, now);
      }
      count(node, amount);
      count(cluster.rackOf(node), amount);
      count(SimScheduler.ANY, amount);
    }

    /** As MapReduce does for a host it blacklists: the host's row goes, rack and ANY stay. */
    private void takeBack(String node) {
      count(node, -asked.getOrDefault(node, 0));
    }

    private void count(String name, int difference) {
      changed.put(name, asked.merge(name, difference, Integer::sum));
    }

    private void grant(String node) {
      if (usable(node)) {
        scheduler.grant(node, cluster.rackOf(node)).ifPresent(near -> received(node, near));
      }
    }

    private void received(String node, GrantLocality near) {
      policy.granted(KEY, node, now, event -> { });
      String owner = near == GrantLocality.LOCAL ? node : ownerNear(node, near);
      if (near == GrantLocality.LOCAL) {
        progress.put(node, now);
      }
      if (owner != null) {
        count(owner, -1);
        count(cluster.rackOf(owner), -1);
      }
      count(SimScheduler.ANY, -1);
    }

    private String ownerNear(String node, GrantLocality near) {
      return cluster.nodes().stream()
          .filter(host -> asked.getOrDefault(host, 0) > 0)
          .filter(host -> near == GrantLocality.REMOTE
              || cluster.rackOf(host).equals(cluster.rackOf(node)))
          .findFirst().orElse(null);
    }

    void revive(int node) {
      cluster.trouble("vm" + node, RemoteCause.NONE);
      forgive("vm" + node);
    }

    private void blacklist(String node) {
      blacklist.add(node);
      policy.blacklist(List.of(node), List.of());
    }

    private void forgive(String node) {
      blacklist.remove(node);
      policy.blacklist(List.of(), List.of(node));
    }

    /** A container that never reached the application: the scheduler asks itself again, strictly. */
    private void preempted(String node) {
      for (String name : List.of(node, cluster.rackOf(node), SimScheduler.ANY)) {
        asked.merge(name, 1, Integer::sum);
        scheduler.put(name, scheduler.counts().getOrDefault(name, 0) + 1);
        scheduler.relax(name, false);
      }
      progress.put(node, now);
    }

    void heartbeat() {
      busy.forEach(node -> progress.put(node, now));
      policy.observe(Map.of(KEY, scheduler.counts()));
      changed.forEach((name, count) -> policy.ask(KEY, name, count));
      policy.decide(now);
      changed.forEach(scheduler::put);
      changed.clear();
      scheduler.counts().keySet()
          .forEach(name -> scheduler.relax(name, policy.isRelaxed(KEY, name)));
    }

    private boolean usable(String node) {
      return cluster.trouble(node) == RemoteCause.NONE && !blacklist.contains(node);
    }

    private boolean offered(String node) {
      return scheduler.offer(node, cluster.rackOf(node)).isPresent();
    }

    void checkOverdueAsksAreFree() {
      boolean overdue = cluster.nodes().stream()
          .filter(host -> scheduler.counts().getOrDefault(host, 0) > 0)
          .anyMatch(host -> now - progress.getOrDefault(host, now) >= WAITS.totalMillis());
      if (overdue && scheduler.counts().containsKey(SimScheduler.ANY)) {
        cluster.nodes().stream().filter(this::usable)
            .forEach(node -> assertTrue(offered(node), node + " is offered nothing: " + scheduler.counts()));
      }
    }

    void checkOnlyOwnersAreOffered() {
      boolean allFresh = cluster.nodes().stream()
          .filter(host -> scheduler.counts().getOrDefault(host, 0) > 0)
          .allMatch(host -> now - progress.getOrDefault(host, now) < WAITS.nodeMillis());
      for (String node : cluster.nodes()) {
        if (allFresh && offered(node)) {
          assertTrue(scheduler.counts().getOrDefault(node, 0) > 0, node + " was not asked for");
        }
      }
    }

    /** Every map ends; one live node with room is enough, and it takes one container per heartbeat. */
    void serveAll() {
      busy.clear();
      int left = scheduler.counts().getOrDefault(SimScheduler.ANY, 0)
          + Math.max(0, changed.getOrDefault(SimScheduler.ANY, 0));
      for (int beat = 0; beat < 2 * left + 60; beat++) {
        heartbeat();
        grant("vm5");
        now += 1_000;
      }
      heartbeat();
      assertEquals(0, scheduler.counts().getOrDefault(SimScheduler.ANY, 0),
          () -> "left: " + scheduler.counts());
    }
  }
}
