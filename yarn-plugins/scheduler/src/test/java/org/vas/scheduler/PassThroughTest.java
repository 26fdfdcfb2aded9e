package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.ams.ApplicationMasterServiceContext;
import org.apache.hadoop.yarn.ams.ApplicationMasterServiceProcessor;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueMetrics;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asks that are not placed reach the scheduler as the very objects the application sent. */
@Timeout(30)
class PassThroughTest {
  private RmHarness yarn;

  /** Stands behind the placement, and keeps the requests that reach it. */
  public static final class Recorder implements ApplicationMasterServiceProcessor {
    private static final AtomicReference<List<ResourceRequest>> SEEN =
        new AtomicReference<>(List.of());
    private ApplicationMasterServiceProcessor next;

    @Override
    public void init(ApplicationMasterServiceContext context,
        ApplicationMasterServiceProcessor nextProcessor) {
      next = nextProcessor;
    }

    @Override
    public void registerApplicationMaster(ApplicationAttemptId attempt,
        RegisterApplicationMasterRequest request, RegisterApplicationMasterResponse response)
        throws java.io.IOException, YarnException {
      next.registerApplicationMaster(attempt, request, response);
    }

    @Override
    public void allocate(ApplicationAttemptId attempt, AllocateRequest request,
        AllocateResponse response) throws YarnException {
      SEEN.set(List.copyOf(request.getAskList()));
      next.allocate(attempt, request, response);
    }

    @Override
    public void finishApplicationMaster(ApplicationAttemptId attempt,
        FinishApplicationMasterRequest request, FinishApplicationMasterResponse response) {
      next.finishApplicationMaster(attempt, request, response);
    }
  }

  @BeforeEach
  void start() throws Exception {
    start("");
  }

  private void start(String defaultLabel) throws Exception {
    yarn = new RmHarness(conf(defaultLabel));
    yarn.rm().getRMContext().getNodeLabelManager()
        .addToCluserNodeLabelsWithDefaultExclusivity(Set.of("x"));
  }

  private static Configuration conf(String defaultLabel) {
    Configuration conf = RmHarness.conf();
    conf.set(YarnConfiguration.RM_APPLICATION_MASTER_SERVICE_PROCESSORS,
        RmHarness.Clocked.class.getName() + "," + Recorder.class.getName());
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    conf.set("yarn.scheduler.capacity.root.accessible-node-labels", "x");
    conf.set("yarn.scheduler.capacity.root.accessible-node-labels.x.capacity", "100");
    conf.set("yarn.scheduler.capacity.root.default.accessible-node-labels", "x");
    conf.set("yarn.scheduler.capacity.root.default.accessible-node-labels.x.capacity", "100");
    conf.set("yarn.scheduler.capacity.root.default.default-node-label-expression", defaultLabel);
    return conf;
  }

  @AfterEach
  void stop() throws Exception {
    yarn.close();
  }

  private static void assertUntouched(RmHarness.Job job, List<ResourceRequest> rows)
      throws Exception {
    List<Boolean> relaxed = relaxed(rows);
    job.master().allocate(new ArrayList<>(rows), List.of());
    assertEquals(rows.size(), Recorder.SEEN.get().size());
    for (int i = 0; i < rows.size(); i++) {
      assertSame(rows.get(i), Recorder.SEEN.get().get(i));
    }
    assertEquals(relaxed, relaxed(rows));
  }

  private static List<Boolean> relaxed(List<ResourceRequest> rows) {
    List<Boolean> relaxed = new ArrayList<>();
    rows.forEach(row -> relaxed.add(row.getRelaxLocality()));
    return relaxed;
  }

  @Test
  void mapsAreSentOnStrict() throws Exception {
    RmHarness.Job job = yarn.submit("MAPREDUCE");
    List<ResourceRequest> rows = job.rows("vm1", 1);
    job.master().allocate(rows, List.of());
    assertEquals(List.of(true, false, false), relaxed(Recorder.SEEN.get()));
    assertEquals(List.of(true, true, true), relaxed(rows), "the application's own rows stay");
  }

  @Test
  void otherFrameworksAsksAreUntouched() throws Exception {
    RmHarness.Job job = yarn.submit("TEZ");
    assertUntouched(job, job.rows("vm1", 1));
  }

  @Test
  void asksThatAreStrictAlreadyAreUntouched() throws Exception {
    RmHarness.Job job = yarn.submit("MAPREDUCE");
    List<ResourceRequest> rows = job.rows("vm1", 1);
    rows.get(1).setRelaxLocality(false);
    assertUntouched(job, rows);
  }

  private static List<ResourceRequest> labelled(RmHarness.Job job, String label) throws Exception {
    List<ResourceRequest> rows = job.rows("vm1", 1);
    rows.get(2).setNodeLabelExpression(label);
    return rows;
  }

  private void putInPartition(String label, String... nodes) throws Exception {
    for (String node : nodes) {
      yarn.rm().getRMContext().getNodeLabelManager()
          .replaceLabelsOnNode(Map.of(yarn.node(node).getNodeId(), Set.of(label)));
    }
    yarn.rm().drainEvents();
  }

  @Test
  void asksForAPartitionTheHostIsNotInAreUntouched() throws Exception {
    RmHarness.Job job = yarn.submit("MAPREDUCE");
    assertUntouched(job, labelled(job, "x"));
  }

  @Test
  void asksThatGetSuchAPartitionFromTheirQueueAreUntouched() throws Exception {
    yarn.close();
    start("x");
    putInPartition("x", "am");
    RmHarness.Job job = yarn.submit("MAPREDUCE");
    assertUntouched(job, job.rows("vm1", 1));
  }

  @Test
  void theQueuesLabelIsTheOneItHasNow() throws Exception {
    RmHarness.Job job = yarn.submit("MAPREDUCE");
    putInPartition("x", "vm1", "vm2");
    assertUntouched(job, job.rows("vm1", 1));
    yarn.rm().getResourceScheduler().reinitialize(conf("x"), yarn.rm().getRMContext());
    job.master().allocate(job.rows("vm1", 1), List.of());
    assertEquals(List.of(true, false, false), relaxed(Recorder.SEEN.get()));
  }

  @Test
  void asksForThePartitionOfTheHostAreSentOnStrict() throws Exception {
    RmHarness.Job job = yarn.submit("MAPREDUCE");
    putInPartition("x", "vm1", "vm2");
    job.master().allocate(labelled(job, "x"), List.of());
    assertEquals(List.of(true, false, false), relaxed(Recorder.SEEN.get()));
    yarn.beat("vm2", "vm1");
    assertEquals(List.of("vm1"), job.granted());
  }

  @Test
  void asksWithoutALabelAreNotHeldForAHostInAnotherPartition() throws Exception {
    RmHarness.Job job = yarn.submit("MAPREDUCE");
    putInPartition("x", "vm1", "vm2");
    assertUntouched(job, job.rows("vm1", 1));
  }

  @Test
  void reducersAndHostsThatAreNotOursAreUntouched() throws Exception {
    RmHarness.Job job = yarn.submit("MAPREDUCE");
    assertUntouched(job, job.rows("elsewhere", 2));
    assertUntouched(job, List.of(job.row(ResourceRequest.ANY, 2)));
  }

  @Test
  void whatQueuePreemptionCountsOnStaysAsItWas() throws Exception {
    RmHarness.Job other = yarn.submit("TEZ");
    RmHarness.Job placed = yarn.submit("MAPREDUCE");
    other.ask("vm1", 3);
    assertEquals(3, pendingContainers());
    placed.ask("vm1", 3);
    assertEquals(6, pendingContainers());
    RmHarness.pass(RmHarness.NODE_WAIT + RmHarness.PARTNER_WAIT);
    placed.granted();
    assertEquals(List.of(true, true), relaxed(Recorder.SEEN.get()), "rack and ANY, sent again");
    assertEquals(6, pendingContainers());
  }

  private int pendingContainers() {
    QueueMetrics metrics = yarn.rm().getResourceScheduler().getRootQueueMetrics();
    return metrics.getPendingContainers();
  }
}
