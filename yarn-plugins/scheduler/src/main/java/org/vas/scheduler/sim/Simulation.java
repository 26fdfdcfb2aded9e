package org.vas.scheduler.sim;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import org.vas.scheduler.policy.AttemptPlacement;
import org.vas.scheduler.policy.GrantLocality;
import org.vas.scheduler.policy.RemoteCause;
import org.vas.scheduler.policy.WaitLimits;

/** Runs one job to its end in virtual time, one heartbeat of everybody per virtual second. */
final class Simulation {
  private static final long HEARTBEAT_MILLIS = 1_000;
  private static final int TASK_MILLIS = 20_000;

  /** Stands for the end of a task whose container has not reached the application yet. */
  private static final Long GRANTED = Long.MAX_VALUE;

  private final SimOptions options;
  private final Random random;
  private final SimCluster cluster;
  private final SimScheduler scheduler = new SimScheduler();
  private final AttemptPlacement policy;
  private final SimApp app;
  private final Map<String, PriorityQueue<Long>> running = new HashMap<>();
  private final Map<GrantLocality, Integer> placed = new EnumMap<>(GrantLocality.class);
  private List<String> granted = new ArrayList<>();
  private long now;

  /** When the last of the tasks started so far ends. */
  private long lastEnd;

  Simulation(SimOptions options, WaitLimits waits) {
    this.options = options;
    random = new Random(options.seed());
    cluster = new SimCluster(options.nodes(), this::hasFreeSlot, this::tasks);
    policy = new AttemptPlacement(waits, cluster, event -> { });
    app = new SimApp(cluster, policy, scheduler);
    cluster.nodes().subList(0, options.deadNodes())
        .forEach(node -> cluster.trouble(node, RemoteCause.DEAD_NODE));
    for (int split = 0; split < options.splits(); split++) {
      app.addSplit(cluster.nodes().get(owner(split)));
    }
  }

  /** Stripes go round the OSTs (all, or those of the first nodes only); files of one stripe each lie where the allocator put them. */
  private int owner(int split) {
    int owners = options.skew() == 0 ? options.nodes() : options.skew();
    return options.uneven() ? random.nextInt(owners) : split % owners;
  }

  private boolean hasFreeSlot(String node) {
    return tasksOn(node).size() < options.slots();
  }

  private int tasks(String node) {
    return tasksOn(node).size();
  }

  private PriorityQueue<Long> tasksOn(String node) {
    return running.computeIfAbsent(node, name -> new PriorityQueue<>());
  }

  SimResult run() {
    long start = System.nanoTime();
    while (app.splitsLeft() > 0) {
      List<String> arrived = granted;
      granted = new ArrayList<>();
      app.heartbeat(now);
      arrived.forEach(this::receive);
      cluster.nodes().forEach(this::nodeHeartbeat);
      now += HEARTBEAT_MILLIS;
    }
    return new SimResult(options, placed, policy.work(), lastEnd, System.nanoTime() - start);
  }

  /** The slot was taken when it was granted; its task starts now, or the slot is given back. */
  private void receive(String node) {
    PriorityQueue<Long> tasks = tasksOn(node);
    tasks.remove(GRANTED);
    app.received(node, now).ifPresent(locality -> {
      placed.merge(locality, 1, Integer::sum);
      long end = now + taskMillis(node, locality);
      tasks.add(end);
      lastEnd = Math.max(lastEnd, end);
    });
  }

  private void nodeHeartbeat(String node) {
    if (cluster.trouble(node) != RemoteCause.NONE) {
      return;
    }
    PriorityQueue<Long> tasks = tasksOn(node);
    while (!tasks.isEmpty() && tasks.peek() <= now) {
      tasks.remove();
    }
    while (hasFreeSlot(node)
        && scheduler.grant(node, cluster.rackOf(node)).isPresent()) {
      tasks.add(GRANTED);
      granted.add(node);
    }
  }

  /** The owner's HA partner reads over the network as every other node does. */
  private long taskMillis(String node, GrantLocality locality) {
    int slowness = isSlow(node) ? 4 : 1;
    long alone = (long) slowness * (TASK_MILLIS / 2 + random.nextInt(TASK_MILLIS));
    int extra = locality == GrantLocality.LOCAL ? 0 : options.remoteExtraPercent();
    return alone * (100 + extra) / 100;
  }

  private boolean isSlow(String node) {
    int index = cluster.indexOf(node);
    return index >= options.deadNodes() && index < options.deadNodes() + options.slowNodes();
  }
}
