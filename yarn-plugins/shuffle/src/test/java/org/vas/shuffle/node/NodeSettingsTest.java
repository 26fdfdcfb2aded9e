package org.vas.shuffle.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.Test;

/** What the service reads from the configuration: who runs tasks, and where the staging directory is. */
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
}
