package org.vas.scheduler;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.net.DNSToSwitchMapping;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.yarn.ams.ApplicationMasterServiceContext;
import org.apache.hadoop.yarn.ams.ApplicationMasterServiceProcessor;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.vas.conf.LayoutConf;

/**
 * A real ResourceManager in this JVM with the four nodes of the laptop example, plus one for
 * application masters; the nodes' and applications' ends of the wire are Hadoop's own test classes.
 */
final class RmHarness implements AutoCloseable {
  /** What a ResourceManager keeps on disk. */
  static final Path STORES = Path.of("target/yarn").toAbsolutePath();

  static final int CONTAINER_MB = 1024;
  static final long NODE_WAIT = 10_000;
  static final long PARTNER_WAIT = 5_000;
  private static final AtomicLong CLOCK = new AtomicLong();
  private static final AtomicReference<Supplier<Throwable>> BROKEN = new AtomicReference<>();

  /** The processor with a clock that stands still until {@link RmHarness#pass}. */
  public static final class Clocked extends PlacementProcessor {
    private static final AtomicReference<Clocked> LATEST = new AtomicReference<>();

    public Clocked() {
      super(RmHarness::now);
    }

    @Override
    public void init(ApplicationMasterServiceContext context,
        ApplicationMasterServiceProcessor nextProcessor) {
      super.init(context, nextProcessor);
      LATEST.set(this);
    }
  }

  private final Map<String, MockNM> nodes = new LinkedHashMap<>();
  private MockRM rm;

  RmHarness(Configuration conf) throws Exception {
    start(new MockRM(conf));
  }

  private static long now() {
    Supplier<Throwable> broken = BROKEN.get();
    Throwable error = broken == null ? null : broken.get();
    if (error != null) {
      RmHarness.<RuntimeException>raise(error);
    }
    return CLOCK.get();
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> void raise(Throwable error) throws E {
    throw (E) error;
  }

  static Configuration conf() {
    Configuration conf = new YarnConfiguration();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, CapacityScheduler.class, ResourceScheduler.class);
    conf.setClass(YarnConfiguration.RM_APPLICATION_MASTER_SERVICE_PROCESSORS, Clocked.class,
        ApplicationMasterServiceProcessor.class);
    conf.setClass("net.topology.node.switch.mapping.impl", VasSwitchMapping.class,
        DNSToSwitchMapping.class);
    conf.set(LayoutConf.CLUSTER_FILE.name(),
        Path.of("../../cluster/examples/laptop-lab.yaml").toAbsolutePath().toString());
    conf.set(PlacementConf.NODE_WAIT.name(), NODE_WAIT + "ms");
    conf.set(PlacementConf.PARTNER_WAIT.name(), PARTNER_WAIT + "ms");
    // Left alone, these lie in /tmp.
    conf.set("hadoop.tmp.dir", STORES.toString());
    conf.set(YarnConfiguration.FS_NODE_ATTRIBUTE_STORE_ROOT_DIR, STORES.toUri() + "/attributes");
    conf.set(YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR, STORES.toUri() + "/labels");
    conf.setBoolean("yarn.scheduler.capacity.schedule-asynchronously.enable", false);
    conf.setInt("yarn.scheduler.capacity.node-locality-delay", 0);
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1.0");
    return conf;
  }

  private void start(MockRM started) throws Exception {
    rm = started;
    rm.start();
    for (String name : List.of("vm1", "vm2", "vm3", "vm4")) {
      register(name, 4 * CONTAINER_MB);
    }
    register("am", 3 * CONTAINER_MB);
  }

  private void register(String name, int memoryMb) throws Exception {
    // Container tokens carry the node's address, so its name has to resolve.
    NetUtils.addStaticResolution(name, "127.0.0.1");
    MockNM node = nodes.computeIfAbsent(
        name, n -> new MockNM(n + ":1234", memoryMb, rm.getResourceTrackerService()));
    node.setResourceTrackerService(rm.getResourceTrackerService());
    node.registerNode();
    rm.drainEvents();
  }

  /** Another ResourceManager in this one's place, with the state it stored. */
  void restart(Configuration conf) throws Exception {
    MockRM old = rm;
    start(new MockRM(conf, old.getRMStateStore()));
    old.stop();
  }

  Job submit(String type, String... tags) throws Exception {
    RMApp app = MockRMAppSubmitter.submit(rm,
        MockRMAppSubmissionData.Builder.createWithMemory(CONTAINER_MB, rm)
            .withAppType(type).withApplicationTags(Set.of(tags)).build());
    return new Job(app, MockRM.launchAndRegisterAM(app, rm, nodes.get("am")));
  }

  MockRM rm() {
    return rm;
  }

  MockNM node(String name) {
    return nodes.get(name);
  }

  int attemptsKnown() {
    return Clocked.LATEST.get().attemptsKnown();
  }

  long nodeBuilds() {
    return Clocked.LATEST.get().nodeBuilds();
  }

  static void pass(long millis) {
    CLOCK.addAndGet(millis);
  }

  /** From now on the clock of the placement throws this, each time that it is not null. */
  static void breakClock(Supplier<Throwable> error) {
    BROKEN.set(error);
  }

  void drainLog() throws InterruptedException {
    Clocked.LATEST.get().drainLog();
  }

  /** Lets nodes report, several times, so that the scheduler has every chance to use them. */
  void beat(String... names) throws Exception {
    for (int round = 0; round < 4; round++) {
      for (String name : names) {
        nodes.get(name).nodeHeartbeat(true);
        rm.drainEvents();
      }
    }
  }

  @Override
  public void close() throws IOException {
    BROKEN.set(null);
    rm.stop();
  }

  /** An application as its master sees it: what it asks for, and what it was given. */
  final class Job {
    private final RMApp app;
    private final MockAM master;
    private final Map<String, Integer> asked = new HashMap<>();
    private final List<Container> running = new ArrayList<>();

    Job(RMApp app, MockAM master) {
      this.app = app;
      this.master = master;
    }

    RMApp app() {
      return app;
    }

    MockAM master() {
      return master;
    }

    /** Rows for maps whose splits lie on a host, as MapReduce counts them up. */
    List<ResourceRequest> rows(String host, int maps) throws Exception {
      List<ResourceRequest> rows = new ArrayList<>();
      for (String name : List.of(host, rackOf(host), ResourceRequest.ANY)) {
        rows.add(row(name, asked.merge(name, maps, Integer::sum)));
      }
      return rows;
    }

    List<ResourceRequest> allRows() throws Exception {
      List<ResourceRequest> rows = new ArrayList<>();
      for (Map.Entry<String, Integer> count : asked.entrySet()) {
        rows.add(row(count.getKey(), count.getValue()));
      }
      return rows;
    }

    ResourceRequest row(String name, int count) throws Exception {
      return master.createResourceReq(name, CONTAINER_MB, 20, count);
    }

    void ask(String host, int maps) throws Exception {
      master.allocate(rows(host, maps), List.of());
    }

    /** A heartbeat without asks; the names of the nodes on which containers were granted. */
    List<String> granted() throws Exception {
      AllocateResponse response = master.allocate(List.of(), List.of());
      running.addAll(response.getAllocatedContainers());
      List<String> granted = response.getAllocatedContainers().stream()
          .map(Container::getNodeId).map(node -> node.getHost()).collect(Collectors.toList());
      granted.forEach(this::assign);
      return granted;
    }

    /** Gives one of its containers on the node back. */
    void endContainerOn(String node) throws Exception {
      Container ended = running.stream()
          .filter(container -> container.getNodeId().getHost().equals(node)).findFirst().get();
      running.remove(ended);
      master.allocate(List.of(), List.of(ended.getId()));
      rm.drainEvents();
    }

    /** As MapReduce does: to a map of that host, else of its rack, else to any. */
    private void assign(String node) {
      asked.keySet().stream()
          .filter(name -> !name.startsWith("/") && !name.equals(ResourceRequest.ANY))
          .filter(host -> asked.get(host) > 0)
          .min(Comparator.comparing(host ->
              host.equals(node) ? 0 : rackOf(host).equals(rackOf(node)) ? 1 : 2))
          .ifPresent(host -> List.of(host, rackOf(host), ResourceRequest.ANY)
              .forEach(name -> asked.merge(name, -1, Integer::sum)));
    }

    /** Lets the policy decide, then the nodes, then collects. */
    List<String> grantedAfterBeatOf(String... names) throws Exception {
      List<String> granted = new ArrayList<>(granted());
      beat(names);
      granted.addAll(granted());
      return granted;
    }
  }

  static String rackOf(String host) {
    String guest = host.split("\\.", 2)[0];
    return Set.of("vm1", "vm2").contains(guest) ? "/ha/oss1+oss2"
        : Set.of("vm3", "vm4").contains(guest) ? "/ha/oss3+oss4" : "/default-rack";
  }
}
