package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.MemoryRMStateStore;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.WriterAppender;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.vas.layout.LayoutConf;

/** Start, restart, and what an administrator sees in between. */
@Timeout(60)
class ResourceManagerLifeTest {
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
    StringWriter lines = new StringWriter();
    WriterAppender appender = new WriterAppender(new PatternLayout("%m%n"), lines);
    Logger log = Logger.getLogger("vas.placement");
    log.setLevel(Level.INFO);
    log.setAdditivity(false);
    log.addAppender(appender);
    try (RmHarness yarn = new RmHarness(RmHarness.conf())) {
      Logger.getRootLogger().setLevel(Level.OFF);
      LogManager.getLoggerRepository().setThreshold(Level.INFO);
      RmHarness.Job job = yarn.submit("MAPREDUCE");
      job.ask("vm1", 2);
      yarn.beat("vm1");
      job.granted();
      yarn.rm().sendNodeLost(yarn.node("vm3"));
      job.ask("vm3", 1);
      job.grantedAfterBeatOf("vm4");
      assertEquals(2L, metric("LocalGrants"));
      assertEquals(1L, metric("PartnerGrants"));
      assertEquals(0L, metric("RemoteGrants"));
      assertEquals(1L, metric("RelaxedDeadNode"));
      assertTrue((Long) metric("AsksRewritten") >= 2);
      String app = job.app().getApplicationId().toString();
      assertTrue(lines.toString().contains(
          "event=strict app=" + app + " key=20 host=vm1 waited_ms=0 cause=none"), lines.toString());
      assertTrue(lines.toString().contains("event=relaxed-partner app=" + app
          + " key=20 host=vm3 waited_ms=0 cause=dead-node"), lines.toString());
      assertTrue(lines.toString().contains("event=grant app=" + app
          + " key=20 host=vm3 node=vm4 locality=partner waited_ms=0 cause=dead-node container=container_"),
          lines.toString());
    } finally {
      log.removeAppender(appender);
      LogManager.getLoggerRepository().setThreshold(Level.FATAL);
    }
  }

  private static Object metric(String name) throws Exception {
    MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    ObjectName bean = beans.queryNames(
        new ObjectName("Hadoop:name=VasPlacement,*"), null).iterator().next();
    return beans.getAttribute(bean, name);
  }
}
