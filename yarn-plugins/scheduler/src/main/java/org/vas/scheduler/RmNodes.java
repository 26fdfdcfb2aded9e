package org.vas.scheduler;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;

/**
 * The ResourceManager's nodes by host, lost ones included. YARN keys nodes by host and port, but
 * asks name hosts only.
 *
 * <p>All attempts share one such object. It is built again when the number of nodes has changed,
 * and otherwise once a second: a node object tells its own state, so only a node that takes
 * another's place is seen that late.
 */
final class RmNodes {
  private static final long TRUSTED_MILLIS = 1_000;

  private final RMContext rm;
  private final LongSupplier clock;
  private Map<String, RMNode> byHost = Map.of();
  private int active = -1;
  private long builtAt;
  private long builds;

  RmNodes(RMContext rm, LongSupplier clockMillis) {
    this.rm = rm;
    clock = clockMillis;
  }

  synchronized Map<String, RMNode> byHost() {
    long now = clock.getAsLong();
    if (rm.getRMNodes().size() != active || now - builtAt >= TRUSTED_MILLIS) {
      active = rm.getRMNodes().size();
      builtAt = now;
      byHost = build();
      builds++;
    }
    return byHost;
  }

  /** Returns how many times the nodes have been gone through, since this object was made. */
  synchronized long builds() {
    return builds;
  }

  private Map<String, RMNode> build() {
    Map<String, RMNode> nodes = new HashMap<>();
    rm.getInactiveRMNodes().values().forEach(node -> nodes.put(node.getHostName(), node));
    Map<String, RMNode> reporting = new HashMap<>();
    rm.getRMNodes().values().forEach(node ->
        reporting.merge(node.getHostName(), node, RmNodes::runningOne));
    nodes.putAll(reporting);
    return Map.copyOf(nodes);
  }

  private static RMNode runningOne(RMNode one, RMNode other) {
    return one.getState() == NodeState.RUNNING ? one : other;
  }
}
