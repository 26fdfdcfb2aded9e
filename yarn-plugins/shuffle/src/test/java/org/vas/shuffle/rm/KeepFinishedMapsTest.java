package org.vas.shuffle.rm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.yarn.ams.ApplicationMasterServiceProcessor;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs a real ResourceManager; the nodes' and applications' ends of the wire are Hadoop's own. */
@Timeout(60)
class KeepFinishedMapsTest {
  private static final int CONTAINER_MB = 1024;

  private MockRM rm;
  private MockNM masters;
  private MockNM worker;
  private MockNM spare;

  @BeforeEach
  void start() throws Exception {
    Configuration conf = new YarnConfiguration();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, CapacityScheduler.class, ResourceScheduler.class);
    conf.setClass(YarnConfiguration.RM_APPLICATION_MASTER_SERVICE_PROCESSORS,
        KeepFinishedMaps.class, ApplicationMasterServiceProcessor.class);
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1.0");
    rm = new MockRM(conf);
    rm.start();
    masters = register("masters", 2);
    worker = register("worker", 2);
    spare = register("spare", 2);
  }

  @AfterEach
  void stop() throws Exception {
    rm.stop();
  }

  @Test
  void aLostNodeIsToldToOthersOnly() throws Exception {
    MockAM ours = submit(KeepFinishedMaps.TAG, "another");
    MockAM stock = submit("another");
    rm.sendNodeLost(worker);
    assertEquals(List.of("worker LOST"), updates(stock));
    assertEquals(List.of(), updates(ours));
  }

  @Test
  void anUnhealthyNodeIsNotToldButItsRecoveryIs() throws Exception {
    MockAM ours = submit(KeepFinishedMaps.TAG);
    MockAM stock = submit();
    worker.nodeHeartbeat(false);
    rm.drainEvents();
    assertEquals(List.of("worker UNHEALTHY"), updates(stock));
    assertEquals(List.of(), updates(ours));
    worker.nodeHeartbeat(true);
    rm.drainEvents();
    assertEquals(List.of("worker RUNNING"), updates(ours));
  }

  @Test
  void whatRanOnTheLostNodeEndsAndRunsElsewhere() throws Exception {
    MockAM ours = submit(KeepFinishedMaps.TAG);
    Container running = containersOn(ours, worker, 1).get(0);
    rm.waitForState(worker, running.getId(),
        org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState.ACQUIRED);
    rm.sendNodeLost(worker);
    AllocateResponse answer = ours.allocate(List.of(), List.of());
    assertEquals(List.of(), answer.getUpdatedNodes());
    ContainerStatus ended = answer.getCompletedContainersStatuses().get(0);
    assertEquals(running.getId(), ended.getContainerId());
    assertEquals(ContainerExitStatus.ABORTED, ended.getExitStatus(),
        "the application master takes this for a kill, not for a failure");
    assertEquals("spare", containersOn(ours, spare, 1).get(0).getNodeId().getHost());
  }

  /** A Hadoop without a method that we call: as stock's heartbeat, and one line in the log. */
  @Test
  void P3_anErrorOfOursNeverCostsAHeartbeat() throws Exception {
    MockAM ours = submit(KeepFinishedMaps.TAG);
    RMApp app = rm.getRMContext().getRMApps().get(ours.getApplicationAttemptId().getApplicationId());
    RMApp ofAnotherHadoop = (RMApp) Proxy.newProxyInstance(
        getClass().getClassLoader(), new Class<?>[] {RMApp.class}, (proxy, method, args) -> {
          if (method.getName().equals("getApplicationTags")) {
            throw new NoSuchMethodError("getApplicationTags");
          }
          return method.invoke(app, args);
        });
    rm.getRMContext().getRMApps().put(app.getApplicationId(), ofAnotherHadoop);
    rm.sendNodeLost(worker);
    assertEquals(List.of("worker LOST"), updates(ours));
    assertEquals(List.of(), updates(ours));
  }

  private List<Container> containersOn(MockAM master, MockNM node, int count) throws Exception {
    master.allocate("*", CONTAINER_MB, count, List.of());
    List<Container> granted = new ArrayList<>();
    for (int beat = 0; beat < 10 && granted.size() < count; beat++) {
      node.nodeHeartbeat(true);
      rm.drainEvents();
      granted.addAll(master.allocate(List.of(), List.of()).getAllocatedContainers());
    }
    assertEquals(count, granted.size());
    return granted;
  }

  private static List<String> updates(MockAM master) throws Exception {
    return master.allocate(List.of(), List.of()).getUpdatedNodes().stream()
        .filter(node -> node.getNodeState() != NodeState.NEW)
        .map(node -> node.getNodeId().getHost() + " " + node.getNodeState())
        .collect(Collectors.toList());
  }

  private MockAM submit(String... tags) throws Exception {
    RMApp app = MockRMAppSubmitter.submit(rm,
        MockRMAppSubmissionData.Builder.createWithMemory(CONTAINER_MB, rm)
            .withAppType("MAPREDUCE").withApplicationTags(Set.of(tags)).build());
    return MockRM.launchAndRegisterAM(app, rm, masters);
  }

  private MockNM register(String name, int containers) throws Exception {
    // Container tokens carry the node's address, so its name has to resolve.
    NetUtils.addStaticResolution(name, "127.0.0.1");
    MockNM node = new MockNM(name + ":1234", containers * CONTAINER_MB,
        rm.getResourceTrackerService());
    node.registerNode();
    rm.drainEvents();
    return node;
  }
}
