package org.vas.scheduler;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.vas.scheduler.policy.Cause;
import org.vas.scheduler.policy.ClusterView;

/** The cluster as the ResourceManager knows it, taken anew at every heartbeat. */
final class RmCluster implements ClusterView {
  private final RMContext rm;
  private final SiteRacks site;
  private Map<String, RMNode> nodes = Map.of();

  RmCluster(RMContext rm, SiteRacks site) {
    this.rm = rm;
    this.site = site;
  }

  /** YARN keys nodes by host and port; asks name hosts, and a host has one NodeManager here. */
  void refresh() {
    Map<String, RMNode> byHost = new HashMap<>();
    rm.getRMNodes().values().forEach(node ->
        byHost.merge(node.getHostName(), node, RmCluster::runningOne));
    nodes = byHost;
  }

  private static RMNode runningOne(RMNode one, RMNode other) {
    return one.getState() == NodeState.RUNNING ? one : other;
  }

  @Override
  public boolean knows(String host) {
    return site.isGuest(host);
  }

  @Override
  public Cause trouble(String host) {
    RMNode node = nodes.get(host);
    if (node == null) {
      return Cause.DEAD_NODE;
    }
    switch (node.getState()) {
      case RUNNING:
        return Cause.NONE;
      case DECOMMISSIONING:
      case DECOMMISSIONED:
        return Cause.DECOMMISSIONING;
      default:
        return Cause.DEAD_NODE;
    }
  }

  @Override
  public String rackOf(String host) {
    RMNode node = nodes.get(host);
    return node == null
        ? site.rackOf(host).orElse(NetworkTopology.DEFAULT_RACK)
        : node.getRackName();
  }

  @Override
  public Optional<String> partnerOf(String host) {
    return site.partnerOf(host);
  }
}
