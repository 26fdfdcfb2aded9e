package org.vas.shuffle.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.Test;

/** Reads the service's configuration: who runs tasks, and where the staging directory is. */
class NodeSettingsTest {
  @Test
  void saysThatTasksShareAUser() {
    Configuration conf = new YarnConfiguration();
    String key = "yarn.nodemanager.container-executor.class";
    for (String one : new String[] {"", "org.vas.None"}) {
      conf.set(key, one);
      String why = Executor.whyTasksShareAUser(conf);
      assertTrue(why.startsWith(key) && why.endsWith("set it to org.apache.hadoop.yarn.server"
          + ".nodemanager.LinuxContainerExecutor"), why);
    }
    conf.set(key, "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor");
    assertTrue(Executor.whyTasksShareAUser(conf).contains("nonsecure-mode.limit-users is true"));
  }

  @Test
  void S1_saysBothSidesOfRealUsersWithoutKerberos() {
    Configuration conf = new YarnConfiguration();
    conf.set("yarn.nodemanager.container-executor.class",
        "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor");
    String limit = "yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users";
    for (boolean limited : new boolean[] {true, false}) {
      conf.setBoolean(limit, limited);
      String why = Executor.whyTasksShareAUser(conf);
      assertTrue(why.startsWith(limit + " is " + limited + ", and Kerberos is off"), why);
      assertTrue(why.contains("whoever reaches the ResourceManager"), why);
      assertTrue(why.contains("set up Kerberos (hadoop.security.authentication)"), why);
    }
  }

  @Test
  void S1_hasNothingToSayWhereKerberosProvesWhoUsersAre() {
    Configuration conf = new YarnConfiguration();
    conf.set("yarn.nodemanager.container-executor.class",
        "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor");
    conf.set("hadoop.security.authentication", "kerberos");
    // A machine without krb5.conf has no realm, and Hadoop asks for one.
    System.setProperty("java.security.krb5.realm", "EXAMPLE.ORG");
    System.setProperty("java.security.krb5.kdc", "kdc.example.org");
    try {
      UserGroupInformation.setConfiguration(conf);
      assertNull(Executor.whyTasksShareAUser(conf));
    } finally {
      System.clearProperty("java.security.krb5.realm");
      System.clearProperty("java.security.krb5.kdc");
      UserGroupInformation.reset();
    }
  }

  @Test
  void aStagingDirectoryElsewhereIsRefusedAtStart() {
    Configuration conf = new YarnConfiguration();
    conf.set("yarn.app.mapreduce.am.staging-dir", "hdfs://nn/staging");
    Exception e = assertThrows(IOException.class, () -> StagingRoot.of(conf, System.getenv()));
    assertEquals("yarn.app.mapreduce.am.staging-dir: 'hdfs://nn/staging' is not on Lustre; name a"
        + " lustre:/// path", e.getMessage());
  }

  @Test
  void theStagingDirectoryIsBelowTheMount() throws IOException {
    Configuration conf = new YarnConfiguration();
    conf.set("fs.defaultFS", "lustre:///");
    conf.set("vas.lustre.mount", "/scratch");
    assertEquals(Path.of("/scratch/tmp/hadoop-yarn/staging"),
        StagingRoot.of(conf, System.getenv()));
  }

  /** Where TLS is demanded or begun, the daemon is not started without all of it. */
  @Test
  void rdmaIsOffUnlessAskedFor() {
    Configuration conf = new YarnConfiguration();
    assertFalse(DaemonCommand.of(conf).contains("--rdma"));
    conf.set("vas.shuffled.rdma", "auto");
    List<String> words = DaemonCommand.of(conf);
    assertEquals("auto", words.get(words.indexOf("--rdma") + 1));
  }

  @Test
  void tlsIsWholeOrRefusedWithTheKeysName() throws IOException {
    Configuration conf = new YarnConfiguration();
    DaemonCommand.checkTls(conf);
    assertFalse(DaemonCommand.of(conf).contains("--tls-key"));
    conf.setBoolean("mapreduce.shuffle.ssl.enabled", true);
    for (String name : List.of("certificate", "key", "authorities")) {
      Exception e = assertThrows(IOException.class, () -> DaemonCommand.checkTls(conf));
      assertEquals("mapreduce.shuffle.ssl.enabled is true, and vas.shuffled.tls." + name
          + " is not set", e.getMessage());
      conf.set("vas.shuffled.tls." + name, "/" + name);
    }
    DaemonCommand.checkTls(conf);
    List<String> words = DaemonCommand.of(conf);
    int at = words.indexOf("--tls-certificate");
    assertEquals(List.of("--tls-certificate", "/certificate", "--tls-key", "/key",
        "--tls-authorities", "/authorities"), words.subList(at, at + 6));
    conf.unset("mapreduce.shuffle.ssl.enabled");
    conf.unset("vas.shuffled.tls.key");
    Exception e = assertThrows(IOException.class, () -> DaemonCommand.checkTls(conf));
    assertTrue(e.getMessage().contains("vas.shuffled.tls.key"), e.getMessage());
  }
}
