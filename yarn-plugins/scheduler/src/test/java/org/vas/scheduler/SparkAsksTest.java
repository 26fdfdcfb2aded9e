package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Asks of Spark's application master, as its dynamic allocation makes them: each executor names all
 * hosts on which tasks wait that are near their data there, so that the hosts' rows add up to more
 * than ANY; its priority is the number of its resource profile, and it stays for long.
 */
@Timeout(30)
class SparkAsksTest {
  private RmHarness yarn;

  @BeforeEach
  void start() throws Exception {
    yarn = new RmHarness(RmHarness.conf());
  }

  @AfterEach
  void stop() throws Exception {
    yarn.close();
  }

  private static List<ResourceRequest> executors(RmHarness.Job job, int count, String... hosts)
      throws Exception {
    List<String> names = new ArrayList<>(List.of(hosts));
    names.addAll(List.of(hosts).stream().map(RmHarness::rackOf).collect(Collectors.toSet()));
    names.add(ResourceRequest.ANY);
    List<ResourceRequest> rows = new ArrayList<>();
    for (String name : names) {
      ResourceRequest row = job.master().createResourceReq(name, RmHarness.CONTAINER_MB, 0, count);
      row.setAllocationRequestId(0);
      rows.add(row);
    }
    return rows;
  }

  private List<String> granted(RmHarness.Job job, String... names) throws Exception {
    List<Container> all = new ArrayList<>();
    all.addAll(job.master().allocate(List.of(), List.of()).getAllocatedContainers());
    yarn.beat(names);
    all.addAll(job.master().allocate(List.of(), List.of()).getAllocatedContainers());
    return all.stream().map(each -> each.getNodeId().getHost()).collect(Collectors.toList());
  }

  @Test
  void executorsStartOnAnyOfTheHostsTheyNameAndNowhereElse() throws Exception {
    RmHarness.Job job = yarn.submit("SPARK");
    job.master().allocate(executors(job, 2, "vm1", "vm3"), List.of());
    assertEquals(List.of(), granted(job, "vm2", "vm4", "am"));
    assertEquals(List.of("vm3", "vm3"), granted(job, "vm3"));
  }

  @Test
  void withTheTagTheFirstNodeThatReportsRunsThem() throws Exception {
    RmHarness.Job job = yarn.submit("SPARK", "vas-placement-off");
    job.master().allocate(executors(job, 2, "vm1", "vm3"), List.of());
    assertEquals(List.of("vm2", "vm2"), granted(job, "vm2"));
  }

  @Test
  void executorsThatNameNoHostStartAtOnce() throws Exception {
    RmHarness.Job job = yarn.submit("SPARK");
    job.master().allocate(executors(job, 2), List.of());
    assertEquals(List.of("vm2", "vm2"), granted(job, "vm2"));
  }

  /** An executor runs on its host for as long as the application does. */
  @Test
  void theirHostIsFullOfExecutorsAndIsWaitedForNoLongerThanOthersAreIdle() throws Exception {
    RmHarness.Job job = yarn.submit("SPARK");
    job.master().allocate(executors(job, 6, "vm1"), List.of());
    assertEquals(List.of("vm1", "vm1", "vm1", "vm1"), granted(job, "vm1"));
    RmHarness.pass(RmHarness.NODE_WAIT - 1);
    assertEquals(List.of(), granted(job, "vm2", "vm3", "vm4"));
    RmHarness.pass(RmHarness.PARTNER_WAIT + 1);
    assertEquals(Set.of("vm3"), Set.copyOf(granted(job, "vm3")));
  }
}
