package org.vas.scheduler.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.vas.scheduler.policy.AskKey;
import org.vas.scheduler.policy.AttemptPlacement;
import org.vas.scheduler.policy.GrantLocality;

/**
 * A MapReduce application master: asks for a container per split on the split's host, gives a
 * container to the nearest split, and sends the rows that changed.
 */
final class SimApp {
  private static final AskKey MAPS = new AskKey(20, -1);

  private final SimCluster cluster;
  private final AttemptPlacement policy;
  private final SimScheduler scheduler;
  private final Map<String, Integer> asked = new HashMap<>();
  private final Map<String, Integer> changed = new LinkedHashMap<>();
  private final Map<String, Integer> splitsOf = new HashMap<>();
  private final Map<String, List<String>> hostsOf = new HashMap<>();
  private final ArrayDeque<String> hostsInOrder = new ArrayDeque<>();
  private int splitsLeft;

  SimApp(SimCluster cluster, AttemptPlacement policy, SimScheduler scheduler) {
    this.cluster = cluster;
    this.policy = policy;
    this.scheduler = scheduler;
  }

  void addSplit(String host) {
    if (splitsOf.merge(host, 1, Integer::sum) == 1) {
      hostsInOrder.add(host);
      hostsOf.computeIfAbsent(cluster.rackOf(host), rack -> new ArrayList<>()).add(host);
    }
    splitsLeft++;
    count(host, 1);
  }

  int splitsLeft() {
    return splitsLeft;
  }

  /**
   * Sends the changed rows through the policy to the scheduler, and sets each row strict or
   * relaxed.
   */
  void heartbeat(long now) {
    policy.observe(Map.of(MAPS, scheduler.counts()));
    changed.forEach((name, count) -> policy.ask(MAPS, name, count));
    policy.decide(now);
    changed.forEach(scheduler::put);
    changed.clear();
    scheduler.counts().keySet().forEach(name ->
        scheduler.relax(name, policy.isRelaxed(MAPS, name)));
  }

  /**
   * Takes a container that the scheduler granted; returns its locality, empty when no split is
   * left.
   */
  Optional<GrantLocality> received(String node, long now) {
    policy.granted(MAPS, node, now, event -> { });
    return nearestTo(node).map(host -> {
      splitsLeft--;
      splitsOf.merge(host, -1, Integer::sum);
      count(host, -1);
      return host.equals(node) ? GrantLocality.LOCAL
          : cluster.rackOf(host).equals(cluster.rackOf(node))
              ? GrantLocality.PARTNER : GrantLocality.REMOTE;
    });
  }

  private Optional<String> nearestTo(String node) {
    if (hasSplits(node)) {
      return Optional.of(node);
    }
    Optional<String> beside = hostsOf.getOrDefault(cluster.rackOf(node), List.of()).stream()
        .filter(this::hasSplits).findFirst();
    while (!hostsInOrder.isEmpty() && !hasSplits(hostsInOrder.peek())) {
      hostsInOrder.remove();
    }
    return beside.or(() -> Optional.ofNullable(hostsInOrder.peek()));
  }

  private boolean hasSplits(String host) {
    return splitsOf.getOrDefault(host, 0) > 0;
  }

  private void count(String host, int difference) {
    for (String name : List.of(host, cluster.rackOf(host), SimScheduler.ANY)) {
      changed.put(name, asked.merge(name, difference, Integer::sum));
    }
  }
}
