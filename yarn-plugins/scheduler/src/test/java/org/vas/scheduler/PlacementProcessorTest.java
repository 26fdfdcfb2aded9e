package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.ResourceBlacklistRequest;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the processor in the real ResourceManager with the stock CapacityScheduler. */
@Timeout(30)
class PlacementProcessorTest {
  private static final String MAPREDUCE = "MAPREDUCE";
  private RmHarness yarn;

  @BeforeEach
  void start() throws Exception {
    yarn = new RmHarness(RmHarness.conf());
  }

  @AfterEach
  void stop() throws Exception {
    yarn.close();
  }

  @Test
  void runsMapsOnTheHostOfTheirSplitAndNowhereElse() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 2);
    assertEquals(List.of(), job.grantedAfterBeatOf("vm2", "vm3", "vm4"));
    assertEquals(List.of("vm1", "vm1"), job.grantedAfterBeatOf("vm1"));
  }

  @Test
  void withoutPlacementTheFirstNodeThatReportsRunsThem() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE, "vas-placement-off");
    job.ask("vm1", 2);
    assertEquals(List.of("vm2", "vm2"), job.grantedAfterBeatOf("vm2", "vm3", "vm4"));
  }

  @Test
  void aFullNodesMapsGoToItsPartnerAndThenAnywhere() throws Exception {
    fill("vm1");
    fill("vm2");
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    RmHarness.pass(RmHarness.NODE_WAIT - 1);
    assertEquals(List.of(), job.grantedAfterBeatOf("vm1", "vm2", "vm3", "vm4"));
    RmHarness.pass(1);
    assertEquals(List.of(), job.grantedAfterBeatOf("vm1", "vm2", "vm3", "vm4"));
    RmHarness.pass(RmHarness.PARTNER_WAIT);
    assertEquals(List.of("vm3"), job.grantedAfterBeatOf("vm1", "vm2", "vm3", "vm4"));
  }

  @Test
  void aFullNodesMapsRunOnAPartnerWithRoom() throws Exception {
    fill("vm1");
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    RmHarness.pass(RmHarness.NODE_WAIT);
    assertEquals(List.of("vm2"), job.grantedAfterBeatOf("vm3", "vm4", "vm2"));
  }

  @Test
  void grantsOnTheHostKeepItsOtherMapsWaitingWhileNoOtherNodeHasRoom() throws Exception {
    RmHarness.Job other = fill("vm2", "vm3", "vm4");
    other.ask("am", 1);
    yarn.beat("am");
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    assertEquals(List.of("am"), other.granted());
    job.ask("vm1", 6);
    RmHarness.pass(RmHarness.NODE_WAIT - 1);
    assertEquals(4, job.grantedAfterBeatOf("vm1").size());
    RmHarness.pass(RmHarness.NODE_WAIT - 1);
    job.granted();
    other.endContainerOn("vm3");
    assertEquals(List.of(), job.grantedAfterBeatOf("vm3"));
  }

  @Test
  void aNodeBusyWithTheJobsOwnMapsIsWaitedForHoweverLongTheyTake() throws Exception {
    RmHarness.Job other = fill("vm2", "vm3", "vm4");
    other.ask("am", 1);
    yarn.beat("am");
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 6);
    assertEquals(4, job.grantedAfterBeatOf("vm1").size());
    RmHarness.pass(10 * (RmHarness.NODE_WAIT + RmHarness.PARTNER_WAIT));
    job.granted();
    other.endContainerOn("vm2");
    other.endContainerOn("vm3");
    assertEquals(List.of(), job.grantedAfterBeatOf("vm2", "vm3"));
    job.endContainerOn("vm1");
    assertEquals(List.of("vm1"), job.grantedAfterBeatOf("vm1"));
  }

  /** Its reducers may wait for the very maps that wait for the node. */
  @Test
  void aNodeFullOfTheJobsReducersIsWaitedForNoLongerThanAnother() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    for (String name : List.of("vm1", RmHarness.rackOf("vm1"), ResourceRequest.ANY)) {
      job.master().allocate(
          List.of(job.master().createResourceReq(name, RmHarness.CONTAINER_MB, 10, 4)), List.of());
    }
    yarn.beat("vm1");
    assertEquals(4, job.master().allocate(List.of(), List.of()).getAllocatedContainers().size());
    job.ask("vm1", 1);
    RmHarness.pass(RmHarness.NODE_WAIT);
    assertEquals(List.of("vm2"), job.grantedAfterBeatOf("vm3", "vm2"));
  }

  @Test
  void grantsOnTheHostDoNotKeepAnIdleNodeWaiting() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 8);
    assertEquals(4, job.grantedAfterBeatOf("vm1").size());
    RmHarness.pass(RmHarness.NODE_WAIT - 1);
    job.granted();
    job.endContainerOn("vm1");
    assertEquals(List.of("vm1"), job.grantedAfterBeatOf("vm1", "vm3"));
    RmHarness.pass(RmHarness.PARTNER_WAIT + 1);
    assertEquals(List.of("vm3", "vm3", "vm3"), job.grantedAfterBeatOf("vm3"));
  }

  @Test
  void anIdleNodeIsNoneToAnApplicationWhoseQueueIsFull() throws Exception {
    yarn.close();
    Configuration conf = RmHarness.conf();
    // Of the 19 GB of the nodes: the application's master and five maps.
    conf.set("yarn.scheduler.capacity.root.queues", "default,rest");
    conf.set("yarn.scheduler.capacity.root.default.capacity", "32");
    conf.set("yarn.scheduler.capacity.root.default.maximum-capacity", "32");
    conf.set("yarn.scheduler.capacity.root.rest.capacity", "68");
    yarn = new RmHarness(conf);
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 8);
    job.ask("vm2", 1);
    assertEquals(5, job.grantedAfterBeatOf("vm1", "vm2").size());
    for (int map = 0; map < 4; map++) {
      RmHarness.pass(RmHarness.NODE_WAIT / 2);
      job.endContainerOn("vm1");
      assertEquals(List.of("vm1"), job.grantedAfterBeatOf("vm3", "vm1"));
    }
  }

  @Test
  void aDeadNodesMapsAreNotHeldBack() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    yarn.rm().sendNodeLost(yarn.node("vm1"));
    assertEquals(List.of("vm2"), job.grantedAfterBeatOf("vm3", "vm2"));
  }

  @Test
  void aDeadPairsMapsRunAnywhereAtOnce() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    yarn.rm().sendNodeLost(yarn.node("vm1"));
    yarn.rm().sendNodeLost(yarn.node("vm2"));
    job.ask("vm1", 1);
    assertEquals(List.of("vm3"), job.grantedAfterBeatOf("vm3"));
  }

  @Test
  void aDecommissioningNodesMapsAreNotHeldBack() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    // Something has to run there, or the node is gone at once.
    fill("vm1");
    job.ask("vm1", 1);
    yarn.rm().sendNodeGracefulDecommission(yarn.node("vm1"), 3600);
    yarn.rm().waitForState(yarn.node("vm1").getNodeId(), NodeState.DECOMMISSIONING);
    assertEquals(List.of("vm2"), job.grantedAfterBeatOf("vm3", "vm2"));
  }

  @Test
  void aBlacklistedNodesMapsAreNotHeldBack() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    job.master().allocate(AllocateRequest.newInstance(0, 0f, List.of(), List.of(),
        ResourceBlacklistRequest.newInstance(List.of("vm1"), List.of())));
    assertEquals(List.of("vm2"), job.grantedAfterBeatOf("vm1", "vm3", "vm2"));
  }

  @Test
  void mapsWithoutAHostRunAnywhereWhileTheOthersWait() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    job.ask("elsewhere", 1);
    assertEquals(List.of(), job.grantedAfterBeatOf("vm2"), "vm1's rack is still held");
    assertEquals(List.of("vm1", "vm1"), job.grantedAfterBeatOf("vm1"), "its own, then the other");
  }

  @Test
  void twoJobsAreHeldForTheirOwnHosts() throws Exception {
    RmHarness.Job one = yarn.submit(MAPREDUCE);
    RmHarness.Job two = yarn.submit(MAPREDUCE);
    one.ask("vm1", 3);
    two.ask("vm3", 3);
    yarn.beat("vm4", "vm3", "vm2", "vm1");
    assertEquals(List.of("vm1", "vm1", "vm1"), one.granted());
    assertEquals(List.of("vm3", "vm3", "vm3"), two.granted());
  }

  @Test
  void anAskTheSchedulerTookBackFromAPreemptedContainerIsReleasedToo() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    yarn.beat("vm1");
    preemptWhatRunsOn("vm1");
    yarn.rm().sendNodeLost(yarn.node("vm1"));
    yarn.rm().drainEvents();
    assertEquals(List.of("vm2"), job.grantedAfterBeatOf("vm2"));
  }

  private void preemptWhatRunsOn(String name) {
    CapacityScheduler scheduler = (CapacityScheduler) yarn.rm().getResourceScheduler();
    List<RMContainer> running =
        scheduler.getNode(yarn.node(name).getNodeId()).getCopiedListOfRunningContainers();
    assertEquals(1, running.size());
    scheduler.markContainerForKillable(running.get(0));
    yarn.rm().drainEvents();
  }

  /** Another framework's containers take all of the nodes. */
  private RmHarness.Job fill(String... names) throws Exception {
    RmHarness.Job other = yarn.submit("TEZ");
    for (String name : names) {
      other.ask(name, 4);
      yarn.beat(name);
      assertEquals(List.of(name, name, name, name), other.granted());
    }
    return other;
  }

  @Test
  void forgetsAttemptsThatFinishedOrVanished() throws Exception {
    RmHarness.Job killed = yarn.submit(MAPREDUCE);
    killed.ask("vm1", 1);
    yarn.rm().killApp(killed.app().getApplicationId());
    yarn.rm().drainEvents();
    RmHarness.Job finished = yarn.submit(MAPREDUCE);
    finished.ask("vm1", 1);
    assertEquals(1, yarn.attemptsKnown(), "the killed one is forgotten when another registers");
    finished.master().unregisterAppAttempt(false);
    assertEquals(0, yarn.attemptsKnown());
  }

  @Test
  void theNodesAreGoneThroughWhenTheyChangeOrOnceASecond() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    long before = yarn.nodeBuilds();
    for (int beat = 0; beat < 10; beat++) {
      job.granted();
    }
    assertEquals(before, yarn.nodeBuilds());
    yarn.rm().sendNodeLost(yarn.node("vm4"));
    job.granted();
    assertEquals(before + 1, yarn.nodeBuilds());
    RmHarness.pass(1_000);
    job.granted();
    assertEquals(before + 2, yarn.nodeBuilds());
  }

  @Test
  void anErrorOfOursAtTheFirstHeartbeatKeepsNoneFromTheScheduler() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    RMApp broken = (RMApp) Proxy.newProxyInstance(getClass().getClassLoader(),
        new Class<?>[] {RMApp.class}, (proxy, method, args) -> {
          if (method.getName().equals("getApplicationType")) {
            throw new IllegalStateException("broken on purpose");
          }
          return method.invoke(job.app(), args);
        });
    yarn.rm().getRMContext().getRMApps().put(job.app().getApplicationId(), broken);
    job.ask("vm1", 1);
    assertEquals(List.of("vm3"), job.grantedAfterBeatOf("vm3"));
  }

  static Stream<Supplier<Throwable>> errorsOfOurs() {
    return Stream.of(() -> new IllegalStateException("broken on purpose"),
        () -> new NoSuchMethodError("of another Hadoop"),
        () -> new NoClassDefFoundError("of another Hadoop"), StackOverflowError::new);
  }

  @ParameterizedTest
  @MethodSource("errorsOfOurs")
  void P3_anErrorOfOursEndsPlacementAndNotTheJob(Supplier<Throwable> error) throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    assertEquals(List.of(), job.grantedAfterBeatOf("vm3"));
    try (CapturedLog log = new CapturedLog(PlacedAttempt.class.getName())) {
      RmHarness.breakClock(error);
      assertEquals(List.of("vm3"), job.grantedAfterBeatOf("vm3"));
      assertTrue(job.granted().isEmpty());
      assertEquals(1, log.text().lines().filter(line -> line.contains("not placed any more")).count(),
          log.text());
    }
  }

  @ParameterizedTest
  @MethodSource("errorsOfOurs")
  void P3_anErrorOfOursAfterTheSchedulerTakesNoGrantAway(Supplier<Throwable> error)
      throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    RmHarness.breakClock(() -> isAfterTheScheduler() ? error.get() : null);
    try (CapturedLog log = new CapturedLog(PlacedAttempt.class.getName())) {
      assertEquals(List.of("vm1"), job.grantedAfterBeatOf("vm1"));
      assertTrue(log.text().contains("not placed any more"), log.text());
    }
  }

  private static boolean isAfterTheScheduler() {
    return StackWalker.getInstance().walk(frames -> frames.anyMatch(
        frame -> frame.getClassName().equals(PlacedAttempt.class.getName())
            && frame.getMethodName().equals("after")));
  }

  /** What the process dies of is not ours to hide. */
  @Test
  void P3_noMemoryIsNotTakenForAnErrorOfOurs() throws Exception {
    RmHarness.Job job = yarn.submit(MAPREDUCE);
    job.ask("vm1", 1);
    RmHarness.breakClock(() -> new OutOfMemoryError("on purpose"));
    assertThrows(OutOfMemoryError.class, () -> job.granted());
  }
}
