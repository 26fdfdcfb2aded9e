package org.vas.scheduler;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerAppReport;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.vas.scheduler.policy.AskKey;
import org.vas.scheduler.policy.ClusterView;
import org.vas.scheduler.policy.RemoteCause;

/**
 * The cluster as the ResourceManager knows it: answers what the placement policy asks about nodes,
 * racks and room, for the asks of one application attempt.
 */
final class RmCluster implements ClusterView {
  private final RMContext rm;
  private final RmNodes known;
  private final IdleNodes idle;
  private final SiteRacks site;
  private final ApplicationAttemptId attempt;
  private final Supplier<String> defaultLabel;
  private Map<String, RMNode> nodes = Map.of();
  private Optional<Resource> headroom = Optional.empty();

  /**
   * The row ANY of each key: it says what one container of the key takes, and in which partition.
   */
  private final Map<AskKey, ResourceRequest> containers = new HashMap<>();

  /** The partition of asks that name none; null until one is met. */
  private String defaultPartition;

  /** The hosts on which each key has containers. */
  private final Map<AskKey, Map<String, Integer>> running = new HashMap<>();

  /** An application without a host to wait for is never asked about its containers. */
  private boolean runningIsKnown;

  /**
   * Makes the view of one application attempt.
   *
   * @param known the nodes of the ResourceManager, shared by all attempts
   * @param idle the nodes with room, shared by all attempts
   * @param defaultLabel returns the partition of asks that name none; called again after every
   *     {@link #refresh}, because an application may change its queue
   */
  RmCluster(RMContext rm, RmNodes known, IdleNodes idle, SiteRacks site,
      ApplicationAttemptId attempt, Supplier<String> defaultLabel) {
    this.rm = rm;
    this.known = known;
    this.idle = idle;
    this.site = site;
    this.attempt = attempt;
    this.defaultLabel = defaultLabel;
  }

  /**
   * Replaces the asks that later questions are about, and takes the nodes that are known now.
   *
   * @param live the rows that the scheduler holds
   * @param asks the rows that the application has just changed; of a row in both lists these count
   */
  void refresh(List<ResourceRequest> live, List<ResourceRequest> asks) {
    nodes = known.byHost();
    defaultPartition = null;
    runningIsKnown = false;
    containers.clear();
    for (List<ResourceRequest> rows : List.of(live, asks)) {
      rows.stream().filter(row -> ResourceRequest.isAnyLocation(row.getResourceName()))
          .forEach(row -> containers.put(RowSet.key(row), row));
    }
  }

  private void refreshRunning() {
    running.clear();
    SchedulerAppReport report = rm.getScheduler().getSchedulerAppInfo(attempt);
    if (report != null) {
      report.getLiveContainers().forEach(container -> running
          .computeIfAbsent(key(container.getAllocatedSchedulerKey()), key -> new HashMap<>())
          .merge(container.getAllocatedNode().getHost(), 1, Integer::sum));
    }
  }

  private static AskKey key(SchedulerRequestKey key) {
    return new AskKey(key.getPriority().getPriority(), key.getAllocationRequestId());
  }

  /**
   * Takes the resources that the queue's limits leave to the application, as of its last heartbeat.
   *
   * @param left null if they are not known: then only the room on nodes limits containers
   */
  void headroom(Resource left) {
    headroom = Optional.ofNullable(left);
  }

  @Override
  public boolean knows(String host) {
    return site.isGuest(host);
  }

  @Override
  public RemoteCause trouble(AskKey key, String host) {
    RMNode node = nodes.get(host);
    if (node == null) {
      return RemoteCause.NO_SUCH_NODE;
    }
    switch (node.getState()) {
      case RUNNING:
        return isInPartition(key, node) ? RemoteCause.NONE : RemoteCause.PARTITION_MISMATCH;
      case DECOMMISSIONING:
      case DECOMMISSIONED:
        return RemoteCause.DECOMMISSIONING;
      default:
        return RemoteCause.DEAD_NODE;
    }
  }

  /**
   * Returns whether a node may serve a key's asks by its partition, as YARN decides it: a partition
   * that is not exclusive lends its nodes to asks without a label.
   */
  private boolean isInPartition(AskKey key, RMNode node) {
    String asked = partitionOf(key);
    SchedulerNode scheduled = rm.getScheduler().getSchedulerNode(node.getNodeID());
    String own = scheduled == null ? "" : scheduled.getPartition();
    return own.equals(asked) || (asked.isEmpty() && isShared(own));
  }

  private String partitionOf(AskKey key) {
    ResourceRequest any = containers.get(key);
    String label = any == null ? null : any.getNodeLabelExpression();
    if (label != null) {
      return label.trim();
    }
    if (defaultPartition == null) {
      defaultPartition = defaultLabel.get();
    }
    return defaultPartition;
  }

  private boolean isShared(String label) {
    try {
      return !rm.getNodeLabelManager().isExclusiveNodeLabel(label);
    } catch (IOException removedMeanwhile) {
      return false;
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
    SchedulerNode scheduled = rm.getScheduler().getSchedulerNode(node.getNodeID());
    if (scheduled == null || !fits(container, scheduled.getUnallocatedResource())) {
      idle.filled(partitionOf(key), container.getCapability(), host);
      return false;
    }
    return isWithinHeadroom(container);
  }

  /**
   * Returns the hosts that had room for one of the key's containers at most a second ago; none
   * where the queue's limits leave no room, however idle nodes are.
   */
  @Override
  public Collection<String> candidates(AskKey key) {
    ResourceRequest container = containers.get(key);
    return container == null || !isWithinHeadroom(container) ? List.of()
        : idle.withRoom(partitionOf(key), container.getCapability());
  }

  private boolean isWithinHeadroom(ResourceRequest container) {
    return headroom.map(left -> fits(container, left)).orElse(true);
  }

  @Override
  public int running(AskKey key, String host) {
    if (!runningIsKnown) {
      refreshRunning();
      runningIsKnown = true;
    }
    return running.getOrDefault(key, Map.of()).getOrDefault(host, 0);
  }

  private boolean fits(ResourceRequest container, Resource left) {
    return Resources.fitsIn(
        rm.getScheduler().getResourceCalculator(), container.getCapability(), left);
  }
}
