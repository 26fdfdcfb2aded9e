package org.vas.scheduler;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.util.resource.ResourceCalculator;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * Finds the nodes with room for a container, by its partition and size. All attempts share one
 * object, which looks at the scheduler's nodes once a second, however many keys wait for an idle
 * one. A node that an attempt finds filled meanwhile is not shown to the others.
 */
final class IdleNodes {
  private static final long TRUSTED_MILLIS = 1_000;

  private final RMContext rm;
  private final RmNodes known;
  private final LongSupplier clock;
  private Map<String, RMNode> builtFrom;
  private long builtAt;
  private List<Room> rooms = List.of();

  /** No node has more of any resource left: what does not fit here fits on none. */
  private Resource most = Resources.none();
  private final Map<Ask, Set<String>> byAsk = new HashMap<>();

  IdleNodes(RMContext rm, RmNodes known, LongSupplier clockMillis) {
    this.rm = rm;
    this.known = known;
    clock = clockMillis;
  }

  /** What a node had left when it was looked at. */
  private static final class Room {
    private final String host;
    private final String partition;
    private final boolean shared;
    private final Resource left;

    Room(String host, String partition, boolean shared, Resource left) {
      this.host = host;
      this.partition = partition;
      this.shared = shared;
      this.left = left;
    }
  }

  /** A partition, empty for none, and what one container takes. */
  private static final class Ask {
    private final String partition;
    private final Resource size;

    Ask(String partition, Resource size) {
      this.partition = partition;
      this.size = size;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Ask && partition.equals(((Ask) other).partition)
          && size.equals(((Ask) other).size);
    }

    @Override
    public int hashCode() {
      return Objects.hash(partition, size);
    }
  }

  /**
   * Returns the hosts that had room for a container at most a second ago.
   *
   * @param partition the container's node label; empty for none
   */
  synchronized Collection<String> withRoom(String partition, Resource size) {
    refresh();
    return byAsk.computeIfAbsent(new Ask(partition, Resources.clone(size)), this::find);
  }

  /** Notes that a host has no room for such a container any more. */
  synchronized void filled(String partition, Resource size, String host) {
    Set<String> hosts = byAsk.get(new Ask(partition, size));
    if (hosts != null) {
      hosts.remove(host);
    }
  }

  // Concurrent: an attempt goes through it while others take hosts out.
  private Set<String> find(Ask ask) {
    Set<String> hosts = ConcurrentHashMap.newKeySet();
    ResourceCalculator calculator = rm.getScheduler().getResourceCalculator();
    // While all nodes are full, asks of a thousand sizes do not go through all nodes each.
    if (!Resources.fitsIn(calculator, ask.size, most)) {
      return hosts;
    }
    for (Room room : rooms) {
      if ((room.partition.equals(ask.partition) || (ask.partition.isEmpty() && room.shared))
          && Resources.fitsIn(calculator, ask.size, room.left)) {
        hosts.add(room.host);
      }
    }
    return hosts;
  }

  private void refresh() {
    long now = clock.getAsLong();
    Map<String, RMNode> nodes = known.byHost();
    if (nodes == builtFrom && now - builtAt < TRUSTED_MILLIS) {
      return;
    }
    builtFrom = nodes;
    builtAt = now;
    byAsk.clear();
    List<Room> found = new ArrayList<>();
    most = Resources.clone(Resources.none());
    Map<String, Boolean> shared = new HashMap<>();
    nodes.forEach((host, node) -> {
      SchedulerNode scheduled = node.getState() == NodeState.RUNNING
          ? rm.getScheduler().getSchedulerNode(node.getNodeID()) : null;
      if (scheduled != null) {
        String partition = scheduled.getPartition();
        Resource left = scheduled.getUnallocatedResource();
        most = Resources.componentwiseMax(most, left);
        boolean lent = shared.computeIfAbsent(partition, this::isShared);
        found.add(new Room(host, partition, lent, left));
      }
    });
    rooms = found;
  }

  private boolean isShared(String label) {
    try {
      return !rm.getNodeLabelManager().isExclusiveNodeLabel(label);
    } catch (IOException removedMeanwhile) {
      return false;
    }
  }
}
