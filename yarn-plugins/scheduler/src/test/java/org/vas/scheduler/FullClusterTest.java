package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNodes;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;
import org.apache.hadoop.yarn.util.resource.ResourceCalculator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.vas.scheduler.policy.AskKey;
import org.vas.scheduler.policy.AttemptPlacement;
import org.vas.scheduler.policy.ClusterView;
import org.vas.scheduler.policy.RemoteCause;

/**
 * Counts what placement costs a ResourceManager whose nodes are all full: the calls made to the
 * real CapacityScheduler, its nodes and their tracker.
 */
@Timeout(300)
class FullClusterTest {
  private static final int NODES = 5_000;
  private static final int APPLICATIONS = 1_000;
  private static final int[] PRIORITIES = {20, 10};
  private static final int SECONDS = 3;
  private static final List<String> HOSTS = List.of("vm1", "vm2", "vm3", "vm4");
  /** Look-ups for one asked host: its own state and its partner's. */
  private static final int PER_HOST = 4;

  private final AtomicLong now = new AtomicLong();
  private MockRM rm;
  private RmNodes nodes;
  private SiteRacks racks;

  /** Counts how often one node is looked up, and how often an ask is compared with room. */
  public static final class Counting extends CapacityScheduler {
    /** The comparisons of each thread: the scheduler's own make some meanwhile. */
    private static final ThreadLocal<Long> FITS = ThreadLocal.withInitial(() -> 0L);
    private final AtomicLong lookups = new AtomicLong();

    @Override
    public ResourceCalculator getResourceCalculator() {
      return new DefaultResourceCalculator() {
        @Override
        public boolean fitsIn(Resource smaller, Resource bigger) {
          FITS.set(FITS.get() + 1);
          return super.fitsIn(smaller, bigger);
        }
      };
    }

    @Override
    public FiCaSchedulerNode getSchedulerNode(NodeId node) {
      lookups.incrementAndGet();
      return super.getSchedulerNode(node);
    }
  }

  @BeforeEach
  void start() throws Exception {
    Configuration conf = RmHarness.conf();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, Counting.class, ResourceScheduler.class);
    rm = new MockRM(conf);
    rm.start();
    nodes = new RmNodes(rm.getRMContext(), now::get);
    racks = PlacementSettings.racks(conf);
  }

  @AfterEach
  void stop() {
    rm.stop();
  }

  private void nodes(int megabytes) {
    for (int i = 0; i < NODES; i++) {
      String host = i < HOSTS.size() ? HOSTS.get(i) : "other" + i;
      RMNode node = MockNodes.newNodeInfo(1, Resource.newInstance(megabytes, 8), i, host, 1234);
      rm.getRMContext().getRMNodes().put(node.getNodeID(), node);
      rm.getResourceScheduler().handle(new NodeAddedSchedulerEvent(node));
    }
  }

  private long lookups() {
    return ((Counting) rm.getResourceScheduler()).lookups.get();
  }

  private static List<ResourceRequest> rows() {
    List<ResourceRequest> rows = new ArrayList<>();
    for (int priority : PRIORITIES) {
      for (String host : HOSTS) {
        rows.add(row(priority, host, 1));
      }
      rows.add(row(priority, "/ha/oss1+oss2", 2));
      rows.add(row(priority, "/ha/oss3+oss4", 2));
      rows.add(row(priority, ResourceRequest.ANY, 4));
    }
    return rows;
  }

  private static ResourceRequest row(int priority, String name, int count) {
    return ResourceRequest.newBuilder().priority(Priority.newInstance(priority))
        .resourceName(name).capability(Resource.newInstance(2048, 1)).numContainers(count)
        .relaxLocality(true).build();
  }

  private static ApplicationAttemptId attempt(int app) {
    return ApplicationAttemptId.newInstance(ApplicationId.newInstance(1, app), 1);
  }

  private RmCluster cluster(IdleNodes idle, int app) {
    return new RmCluster(rm.getRMContext(), nodes, idle, racks, attempt(app), () -> "");
  }

  @Test
  void P2_oneSecondsWorkDoesNotGrowWithNodesTimesKeys() {
    nodes(1024);
    IdleNodes idle = new IdleNodes(rm.getRMContext(), nodes, now::get);
    List<AttemptAsks> applications = new ArrayList<>();
    for (int app = 0; app < APPLICATIONS; app++) {
      RmCluster cluster = cluster(idle, app);
      applications.add(new AttemptAsks(cluster, new AttemptPlacement(
          PlacementConf.waits(RmHarness.conf()), cluster, event -> { })));
    }
    long keys = (long) APPLICATIONS * PRIORITIES.length;
    for (int second = 0; second < SECONDS; second++) {
      now.addAndGet(1_000);
      long before = lookups();
      long started = System.nanoTime();
      for (AttemptAsks asks : applications) {
        asks.rewrite(second == 0 ? rows() : List.of(), rows(), null, now.get());
      }
      long made = lookups() - before;
      System.out.printf("%d nodes x %d applications, full: %d look-ups, %d ms%n", NODES,
          APPLICATIONS, made, (System.nanoTime() - started) / 1_000_000);
      assertTrue(made <= NODES + keys * HOSTS.size() * PER_HOST, made + " look-ups");
    }
  }

  /** The guard off: each key goes through all nodes. Ten applications, for it takes its time. */
  @Test
  void P2_withoutTheSharedViewEachKeyLooksAtEachNode() {
    nodes(1024);
    int few = 10;
    RmCluster cluster = cluster(new IdleNodes(rm.getRMContext(), nodes, now::get), 1);
    cluster.refresh(List.of(), rows());
    List<AttemptPlacement> applications = new ArrayList<>();
    for (int app = 0; app < few; app++) {
      applications.add(new AttemptPlacement(
          PlacementConf.waits(RmHarness.conf()), new EveryNode(cluster), event -> { }));
    }
    long before = lookups();
    long started = System.nanoTime();
    for (AttemptPlacement each : applications) {
      rows().forEach(row -> each.ask(RowSet.key(row), row.getResourceName(), 1));
      each.decide(now.get());
    }
    long made = lookups() - before;
    System.out.printf("%d nodes x %d applications, full, each node looked at: %d look-ups, %d ms%n",
        NODES, few, made, (System.nanoTime() - started) / 1_000_000);
    assertTrue(made >= (long) few * PRIORITIES.length * NODES, made + " look-ups");
  }

  /** Each application asks for containers of a size of its own. */
  @Test
  void P2_sizesOfManyApplicationsAreNotComparedWithEachFullNode() {
    nodes(1024);
    IdleNodes idle = new IdleNodes(rm.getRMContext(), nodes, now::get);
    long before = Counting.FITS.get();
    for (int app = 0; app < APPLICATIONS; app++) {
      assertEquals(0, idle.withRoom("", Resource.newInstance(2048 + app, 1)).size());
    }
    long made = Counting.FITS.get() - before;
    assertEquals(APPLICATIONS, made, "one with the most that any node has left");
    assertEquals(NODES, idle.withRoom("", Resource.newInstance(1024, 1)).size());
  }

  @Test
  void P2_anIdleNodeIsFoundAndAFilledOneIsNotShownAgain() {
    nodes(2048);
    IdleNodes idle = new IdleNodes(rm.getRMContext(), nodes, now::get);
    Resource size = Resource.newInstance(2048, 1);
    assertEquals(NODES, idle.withRoom("", size).size());
    assertEquals(0, idle.withRoom("x", size).size(), "no such partition");
    assertEquals(0, idle.withRoom("", Resource.newInstance(2049, 1)).size());
    idle.filled("", size, "vm1");
    assertEquals(NODES - 1, idle.withRoom("", size).size());
    now.addAndGet(1_000);
    assertEquals(NODES, idle.withRoom("", size).size(), "looked at again after a second");
  }

  /** The cluster as it was seen before: all nodes are candidates. */
  private static final class EveryNode implements ClusterView {
    private final RmCluster cluster;

    EveryNode(RmCluster cluster) {
      this.cluster = cluster;
    }

    @Override
    public boolean knows(String host) {
      return cluster.knows(host);
    }

    @Override
    public RemoteCause trouble(AskKey key, String host) {
      return cluster.trouble(key, host);
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
    public boolean hasRoom(AskKey key, String node) {
      return cluster.hasRoom(key, node);
    }

    @Override
    public int running(AskKey key, String node) {
      return cluster.running(key, node);
    }
  }
}
