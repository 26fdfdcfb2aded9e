package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.MetricsAsserts;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.MemoryRMStateStore;
import org.apache.hadoop.yarn.util.RackResolver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.vas.conf.LayoutConf;

/** Starts and restarts a ResourceManager, and checks what an administrator sees in between. */
@Timeout(60)
class ResourceManagerLifeTest {
  /** YARN resolves racks by the first mapping of the process: a broken one would stay for all. */
  @BeforeAll
  static void resolveRacks() {
    RackResolver.init(RmHarness.conf());
  }

  @Test
  void keepsItsFilesInTheBuild() throws Exception {
    try (RmHarness yarn = new RmHarness(RmHarness.conf())) {
      yarn.beat("vm1");
      assertTrue(Files.exists(RmHarness.STORES.resolve("attributes/nodeattribute.mirror")));
      assertTrue(RmHarness.STORES.startsWith(Path.of("target").toAbsolutePath()));
    }
  }

  @Test
  void placesOnAfterARestart() throws Exception {
    Configuration conf = RmHarness.conf();
    conf.setBoolean(YarnConfiguration.RECOVERY_ENABLED, true);
    conf.set(YarnConfiguration.RM_STORE, MemoryRMStateStore.class.getName());
    conf.setLong(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_SCHEDULING_WAIT_MS, 0);
    try (RmHarness yarn = new RmHarness(conf)) {
      RmHarness.Job job = yarn.submit("MAPREDUCE");
      job.ask("vm1", 2);
      yarn.restart(conf);
      job.master().setAMRMProtocol(
          yarn.rm().getApplicationMasterService(), yarn.rm().getRMContext());
      job.master().registerAppAttempt(false);
      job.master().allocate(job.allRows(), List.of());
      assertEquals(List.of(), job.grantedAfterBeatOf("vm2", "vm3", "vm4"));
      assertEquals(List.of("vm1", "vm1"), job.grantedAfterBeatOf("vm1"));
    }
  }

  @Test
  void doesNotStartWithASiteDescriptionItCannotRead() {
    Configuration conf = RmHarness.conf();
    conf.set(LayoutConf.CLUSTER_FILE.name(), "/nowhere/cluster.yaml");
    Exception error = assertThrows(Exception.class, () -> new MockRM(conf));
    assertTrue(error.getMessage().contains("VAS placement: /nowhere/cluster.yaml"),
        error.getMessage());
  }

  @Test
  void doesNotStartWithAWaitThatIsNoTime() {
    Configuration conf = RmHarness.conf();
    conf.set(PlacementConf.NODE_WAIT.name(), "soon");
    Exception error = assertThrows(Exception.class, () -> new MockRM(conf));
    assertTrue(error.getMessage().contains(PlacementConf.NODE_WAIT.name()), error.getMessage());
  }

  @Test
  void switchedOffItReadsNothingAndDoesNothing() throws Exception {
    Configuration conf = RmHarness.conf();
    conf.setBoolean(PlacementConf.ENABLED.name(), false);
    conf.unset("net.topology.node.switch.mapping.impl");
    conf.set(LayoutConf.CLUSTER_FILE.name(), "/nowhere/cluster.yaml");
    try (RmHarness yarn = new RmHarness(conf)) {
      RmHarness.Job job = yarn.submit("MAPREDUCE");
      job.ask("vm1", 1);
      assertEquals(List.of("vm3"), job.grantedAfterBeatOf("vm3"));
    }
  }

  @Test
  void countsAndLogsWhatItDecides() throws Exception {
    // The ResourceManager's test classes set levels, so the log is captured when it is up.
    try (RmHarness yarn = new RmHarness(RmHarness.conf());
        CapturedLog log = new CapturedLog("vas.placement")) {
      RmHarness.Job job = yarn.submit("MAPREDUCE");
      job.ask("vm1", 2);
      yarn.beat("vm1");
      assertEquals(List.of("vm1", "vm1"), job.granted());
      yarn.rm().sendNodeLost(yarn.node("vm3"));
      job.ask("vm3", 1);
      job.grantedAfterBeatOf("vm4");
      assertEquals(2L, metric("LocalGrants"));
      assertEquals(1L, metric("PartnerGrants"));
      assertEquals(0L, metric("RemoteGrants"));
      assertEquals(1L, metric("RelaxedDeadNode"));
      assertTrue(metric("AsksRewritten") >= 2);
      assertFalse(ManagementFactory.getPlatformMBeanServer()
          .queryNames(new ObjectName("Hadoop:name=VasPlacement,*"), null).isEmpty());
      String app = job.app().getApplicationId().toString();
      yarn.drainLog();
      assertTrue(log.text().contains(
          "event=strict app=" + app + " key=20 host=vm1 waited_ms=0 cause=none"), log.text());
      assertTrue(log.text().contains("event=relaxed-partner app=" + app
          + " key=20 host=vm3 waited_ms=0 cause=dead-node"), log.text());
      assertTrue(log.text().contains("event=grant app=" + app
          + " key=20 host=vm3 node=vm4 locality=partner waited_ms=0 cause=dead-node container=container_"),
          log.text());
    }
  }

  @Test
  void aGuestThatYarnKnowsByAnotherNameIsNotWaitedFor(@TempDir Path dir) throws Exception {
    Path site = dir.resolve("cluster.yaml");
    Configuration conf = RmHarness.conf();
    Files.writeString(site, Files.readString(Path.of(conf.get(LayoutConf.CLUSTER_FILE.name())))
        .replace("name: vm1", "name: vm1.example"));
    conf.set(LayoutConf.CLUSTER_FILE.name(), site.toString());
    try (RmHarness yarn = new RmHarness(conf);
        CapturedLog log = new CapturedLog("vas.placement")) {
      RmHarness.Job job = yarn.submit("MAPREDUCE");
      job.ask("vm1.example", 1);
      yarn.drainLog();
      assertTrue(log.text().contains("host=vm1.example waited_ms=0 cause=no-such-node"), log.text());
      assertEquals(List.of("vm1"), job.grantedAfterBeatOf("vm3", "vm1"), "it is in the pair's rack");
    }
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void doesNotStartWithAMisspeltKeyWhetherSwitchedOnOrOff(boolean enabled) {
    Configuration conf = RmHarness.conf();
    conf.setBoolean(PlacementConf.ENABLED.name(), enabled);
    conf.set("vas.placement.node-wiat", "5s");
    Exception error = assertThrows(Exception.class, () -> new MockRM(conf));
    assertEquals("VAS placement: vas.placement.node-wiat: unknown key; did you mean"
        + " vas.placement.node-wait?; correct it, or set vas.placement.enabled=false",
        error.getMessage());
  }

  @Test
  void whatIsWrongIsOneLine(@TempDir Path dir) throws IOException {
    Path site = Files.writeString(dir.resolve("cluster.yaml"), "lustre: {}\nhosts: []\n");
    Configuration conf = RmHarness.conf();
    conf.set(LayoutConf.CLUSTER_FILE.name(), site.toString());
    String message = assertThrows(Exception.class, () -> new MockRM(conf)).getMessage();
    assertEquals("VAS placement: " + site + ":1: lustre: key fsname is missing; correct it, or set"
        + " vas.placement.enabled=false", message);
  }

  @Test
  void doesNotStartWithNoApplicationType() {
    Configuration conf = RmHarness.conf();
    conf.set(PlacementConf.APPLICATION_TYPES.name(), " , ");
    Exception error = assertThrows(Exception.class, () -> new MockRM(conf));
    assertTrue(error.getMessage().contains("vas.placement.application-types: names no type"),
        error.getMessage());
  }

  /** As the source counts now: what JMX answers may be as old as the metrics' period. */
  private static long metric(String name) {
    return MetricsAsserts.getLongCounter(name, MetricsAsserts.getMetrics(PlacementMetrics.NAME));
  }
}
