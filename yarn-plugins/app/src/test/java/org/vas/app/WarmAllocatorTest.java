package org.vas.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerRequestEvent;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.PreemptionContainer;
import org.apache.hadoop.yarn.api.records.PreemptionMessage;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.StrictPreemptionContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.vas.app.WarmPool.Answer;

/** Runs Hadoop's own allocator with the pool, against answers as a ResourceManager gives them. */
class WarmAllocatorTest {
  private static final long JVM = 7;
  private static final Resource SIZE = Resource.newInstance(512, 1);

  private final Container container = Attempts.container((int) JVM, "vm1");
  private final ContainerId id = container.getId();
  private final AnsweringYarn yarn = new AnsweringYarn();
  private volatile long now;
  private final WarmPool pool = new WarmPool(100, 120_000, () -> now);
  private final DrivenAllocator allocator = new DrivenAllocator(yarn, pool);

  @BeforeEach
  void start() {
    Configuration conf = new Configuration(false);
    conf.set(MRJobConfig.COMPLETED_MAPS_FOR_REDUCE_SLOWSTART, "0");
    conf.set(ReuseConf.IDLE_TIME.name(), "3s");
    allocator.init(conf);
    allocator.start();
  }

  @AfterEach
  void stop() {
    allocator.setShouldUnregister(false);
    allocator.stop();
  }

  @Test
  void theNextMapOfItsHostRunsInAContainerThatAsksForMore() throws Exception {
    runFirstMap();
    ask(Attempts.map(2), "vm1");
    yarn.beat(allocator);
    assertEquals(id, yarn.assigned(Attempts.map(2)));
    assertTrue(yarn.has(Attempts.map(1), TaskAttemptEventType.TA_CONTAINER_COMPLETED));
    assertEquals(1, yarn.counted(ContainerCounter.CONTAINERS_LAUNCHED));
    assertEquals(1, yarn.counted(ContainerCounter.CONTAINERS_REUSED));
    yarn.beat(allocator);
    assertEquals(Set.of(), yarn.released());
  }

  @Test
  void aContainerThatWaitsIsGivenBackAfterItsTimeAndItsJvmTold() throws Exception {
    runFirstMap();
    yarn.beat(allocator);
    wait(2_999);
    yarn.beat(allocator);
    assertEquals(Set.of(), yarn.released());
    wait(3_000);
    yarn.beat(allocator);
    yarn.beat(allocator);
    assertEquals(Set.of(id), yarn.released());
    assertEquals(Answer.END, pool.ask(JVM));
  }

  @Test
  void aClaimOfYarnGivesAWaitingContainerBackAtOnce() throws Exception {
    runFirstMap();
    yarn.beat(allocator);
    yarn.next.setPreemptionMessage(PreemptionMessage.newInstance(
        StrictPreemptionContract.newInstance(Set.of(PreemptionContainer.newInstance(id))), null));
    yarn.beat(allocator);
    assertEquals(Answer.END, pool.ask(JVM));
    yarn.beat(allocator);
    assertEquals(Set.of(id), yarn.released());
  }

  @Test
  void aNodeThatIsLostTakesItsWaitingContainerAlong() throws Exception {
    runFirstMap();
    yarn.beat(allocator);
    yarn.next.setUpdatedNodes(List.of(report(NodeState.DECOMMISSIONING)));
    yarn.beat(allocator);
    assertEquals(Answer.END, pool.ask(JVM));
    assertEquals(List.of(), pool.idle());
  }

  @Test
  void aNodeThatComesBackKeepsItsWaitingContainer() throws Exception {
    runFirstMap();
    yarn.next.setUpdatedNodes(List.of(report(NodeState.RUNNING)));
    yarn.beat(allocator);
    assertEquals(Answer.WAIT, pool.ask(JVM));
  }

  @Test
  void aJvmThatDiesWithAnAttemptInHandIsNotTheAttemptsFault() throws Exception {
    runFirstMap();
    ask(Attempts.map(2), "vm1");
    yarn.beat(allocator);
    pool.launched(Attempts.map(2));
    yarn.next.setCompletedContainersStatuses(List.of(ended(137)));
    yarn.beat(allocator);
    assertTrue(yarn.has(Attempts.map(2), TaskAttemptEventType.TA_KILL));
    assertFalse(yarn.has(Attempts.map(2), TaskAttemptEventType.TA_CONTAINER_COMPLETED));
  }

  @Test
  void aJvmThatDiesWhileItWaitsIsNoAttemptsEnd() throws Exception {
    runFirstMap();
    yarn.beat(allocator);
    int before = yarn.events();
    yarn.next.setCompletedContainersStatuses(List.of(ended(137)));
    yarn.beat(allocator);
    assertTrue(pool.isOver(id));
    assertEquals(before + 1, yarn.events(), "the launcher alone hears of it");
    ask(Attempts.map(2), "vm1");
    yarn.beat(allocator);
    assertFalse(yarn.isAssigned(Attempts.map(2)));
  }

  @Test
  void aJvmThatIsSilentIsEndedAndGetsNoTask() throws Exception {
    runFirstMap();
    yarn.beat(allocator);
    now = 1_000;
    yarn.beat(allocator);
    now = 2_000;
    ask(Attempts.map(2), "vm1");
    yarn.beat(allocator);
    assertFalse(yarn.isAssigned(Attempts.map(2)));
    yarn.beat(allocator);
    assertEquals(Set.of(id), yarn.released());
  }

  @Test
  void aMasterThatStoodStillGivesTheNextTaskToAJvmThatCouldNotAsk() throws Exception {
    runFirstMap();
    yarn.beat(allocator);
    now = 10_000;
    ask(Attempts.map(2), "vm1");
    yarn.beat(allocator);
    assertEquals(id, yarn.assigned(Attempts.map(2)));
  }

  @Test
  void aJvmThatHangsAsItIsGivenATaskLosesItAndTheAttemptIsNotToBlame() throws Exception {
    runFirstMap();
    ask(Attempts.map(2), "vm1");
    yarn.beat(allocator);
    assertEquals(id, yarn.assigned(Attempts.map(2)));
    pool.launched(Attempts.map(2));
    now = 19_999;
    yarn.beat(allocator);
    yarn.beat(allocator);
    assertEquals(Set.of(), yarn.released());
    now = 20_000;
    yarn.beat(allocator);
    yarn.beat(allocator);
    assertEquals(Set.of(id), yarn.released());
    yarn.next.setCompletedContainersStatuses(List.of(ended(143)));
    yarn.beat(allocator);
    assertTrue(yarn.has(Attempts.map(2), TaskAttemptEventType.TA_KILL));
  }

  @Test
  void aContainerThatGrowsTooOldAsItWaitsGetsNoTask() throws Exception {
    runFirstMap();
    yarn.beat(allocator);
    wait(120_000);
    ask(Attempts.map(2), "vm1");
    yarn.beat(allocator);
    yarn.beat(allocator);
    assertEquals(Set.of(id), yarn.released());
    assertFalse(yarn.isAssigned(Attempts.map(2)));
  }

  @Test
  void whatAWaitingContainerHoldsIsFreeToHadoopsAllocator() throws Exception {
    runFirstMap();
    yarn.next.setAvailableResources(Resource.newInstance(100, 1));
    yarn.beat(allocator);
    assertEquals(Resource.newInstance(612, 2), allocator.getAvailableResources());
  }

  @Test
  void aReduceRunsInTheContainerOfAMapWhenNoMapWaits() throws Exception {
    runFirstMap();
    TaskAttemptId reduce = Attempts.attempt(TaskType.REDUCE, 0);
    allocator.handleEvent(
        new ContainerRequestEvent(reduce, SIZE, new String[0], new String[0]));
    yarn.beat(allocator);
    yarn.beat(allocator);
    assertEquals(id, yarn.assigned(reduce));
  }

  @Test
  void aFailedMapGetsRoomFromMapsThatWouldTakeEveryContainer() throws Exception {
    runFirstMap();
    allocator.handleEvent(ContainerRequestEvent.createContainerRequestEventForFailedContainer(
        Attempts.map(9), SIZE));
    for (int map = 2; map <= 4; map++) {
      ask(Attempts.map(map), "vm1");
    }
    yarn.beat(allocator);
    assertEquals(id, yarn.assigned(Attempts.map(2)));
    endTask(Attempts.map(2));
    yarn.beat(allocator);
    assertEquals(id, yarn.assigned(Attempts.map(3)), "YARN may answer with room of its own");
    endTask(Attempts.map(3));
    yarn.beat(allocator);
    yarn.beat(allocator);
    assertEquals(Set.of(id), yarn.released());
    assertFalse(yarn.isAssigned(Attempts.map(4)));
  }

  @Test
  void reducesThatYarnDoesNotServeTakeAContainerBeforeMapsDo() throws Exception {
    yarn.completedMaps = 5;
    yarn.room = Resource.newInstance(4096, 4);
    runFirstMap();
    TaskAttemptId reduce = Attempts.attempt(TaskType.REDUCE, 0);
    allocator.handleEvent(
        new ContainerRequestEvent(reduce, SIZE, new String[0], new String[0]));
    for (int map = 2; map <= 7; map++) {
      ask(Attempts.map(map), "vm1");
    }
    yarn.beat(allocator);
    for (int map = 2; map <= 7 && !yarn.isAssigned(reduce); map++) {
      endTask(Attempts.map(map));
      yarn.beat(allocator);
    }
    assertEquals(id, yarn.assigned(reduce));
    assertFalse(yarn.isAssigned(Attempts.map(7)));
  }

  @Test
  void aHostWhereTooManyAttemptsFailedLosesItsWaitingContainer() throws Exception {
    runFirstMap();
    yarn.beat(allocator);
    for (int i = 0; i < 3; i++) {
      allocator.containerFailedOnHost("vm1");
    }
    yarn.beat(allocator);
    assertEquals(Answer.END, pool.ask(JVM));
  }

  private void endTask(TaskAttemptId attempt) {
    pool.launched(attempt);
    pool.fetched(JVM);
    pool.done(attempt);
    assertEquals(Answer.WAIT, pool.ask(JVM));
  }

  // Its JVM asks for another task, and the allocator has not heard of it.
  private void runFirstMap() throws Exception {
    ask(Attempts.map(1), "vm1");
    yarn.next.setAllocatedContainers(List.of(container));
    yarn.beat(allocator);
    assertEquals(id, yarn.assigned(Attempts.map(1)));
    pool.started(Attempts.map(1), 13562);
    pool.done(Attempts.map(1));
    assertEquals(Answer.WAIT, pool.ask(JVM));
  }

  // Its JVM asks as it waits.
  private void wait(int millis) {
    now = millis;
    pool.ask(JVM);
  }

  private void ask(TaskAttemptId attempt, String host) {
    allocator.handleEvent(new ContainerRequestEvent(
        attempt, SIZE, new String[] {host}, new String[] {"/default-rack"}));
  }

  private ContainerStatus ended(int status) {
    return ContainerStatus.newInstance(id, ContainerState.COMPLETE, "killed", status);
  }

  private NodeReport report(NodeState state) {
    return NodeReport.newInstance(NodeId.newInstance("vm1", 8041), state, "vm1:8042",
        "/default-rack", SIZE, SIZE, 1, "", 0L);
  }
}
