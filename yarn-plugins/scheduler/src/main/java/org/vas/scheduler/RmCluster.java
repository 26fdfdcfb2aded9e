package org.vas.scheduler;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNodeReport;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.vas.scheduler.policy.AskKey;
import org.vas.scheduler.policy.Cause;
import org.vas.scheduler.policy.ClusterView;

/** The cluster as the ResourceManager knows it, for the asks of one application attempt. */
final class RmCluster implements ClusterView {
  private final RMContext rm;
  private final SiteRacks site;
  private Map<String, RMNode> nodes = Map.of();
  private Optional<Resource> headroom = Optional.empty();

  /** What one container of a key is: its ANY row. */
  private final Map<AskKey, ResourceRequest> containers = new HashMap<>();

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

  /** The asks as they stand: the scheduler's, and over them what the application changed. */
  void asked(List<ResourceRequest> live, List<ResourceRequest> asks) {
    containers.clear();
    for (List<ResourceRequest> rows : List.of(live, asks)) {
      rows.stream().filter(row -> ResourceRequest.isAnyLocation(row.getResourceName()))
          .forEach(row -> containers.put(RowSet.key(row), row));
    }
  }

  /** What the queue's limits leave to the application, as its last heartbeat was told. */
  void headroom(Resource left) {
    headroom = Optional.ofNullable(left);
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
  public Collection<String> nodes() {
    return nodes.keySet();
  }

  @Override
  public boolean hasRoom(AskKey key, String host) {
    RMNode node = nodes.get(host);
    ResourceRequest container = containers.get(key);
    if (node == null || container == null) {
      return false;
    }
    SchedulerNodeReport report = rm.getScheduler().getNodeReport(node.getNodeID());
    return report != null
        && fits(container, report.getAvailableResource())
        && headroom.map(left -> fits(container, left)).orElse(true);
  }

  private boolean fits(ResourceRequest container, Resource left) {
    return Resources.fitsIn(
        rm.getScheduler().getResourceCalculator(), container.getCapability(), left);
  }

  @Override
  public Optional<String> partnerOf(String host) {
    return site.partnerOf(host);
  }
}
