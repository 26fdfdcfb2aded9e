package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where a YARN application's map output lies when no key names a directory. */
class JobsDirectoryTest {
  private static final String APPLICATION = "application_1764370000000_0007";

  private final Path staging = SparkApps.newDirectory();
  private final Configuration site = new Configuration();
  private Path job;

  @BeforeEach
  void nameTheStagingDirectory() throws IOException {
    site.set("fs.defaultFS", "file:///");
    site.set("yarn.app.mapreduce.am.staging-dir", staging.toString());
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    job = staging.resolve(user).resolve(".staging/job_1764370000000_0007");
  }

  @Test
  void itIsTheJobsInTheUsersStagingDirectoryAndTheUsersAlone() throws IOException {
    ApplicationFiles files = ShuffleStorage.ofJob(APPLICATION, site).makeApplication(APPLICATION);
    Path made = Path.of(new org.apache.hadoop.fs.Path(files.named()).toUri().getPath());
    assertEquals(job.resolve("shuffle"), made.getParent());
    for (Path each = made; !each.equals(staging); each = each.getParent()) {
      assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(each)));
    }
  }

  @Test
  void anExecutorFindsItByWhatTheDriverTold() throws IOException {
    ApplicationFiles files = ShuffleStorage.ofJob(APPLICATION, site).makeApplication(APPLICATION);
    org.apache.hadoop.fs.Path told = new org.apache.hadoop.fs.Path(files.named());
    assertTrue(ShuffleStorage.at(told.getParent().toString(), site).application(told.getName(), 0)
        .canBeSeen());
  }

  @Test
  void itGoesWithTheLastLifeOfTheDriver() throws IOException {
    ShuffleStorage storage = ShuffleStorage.ofJob(APPLICATION, site);
    ApplicationFiles first = storage.makeApplication(APPLICATION);
    ApplicationFiles second = storage.makeApplication(APPLICATION);
    first.removeAll();
    storage.removeIfOfJob();
    assertTrue(second.canBeSeen(), "the second's files are in use");
    second.removeAll();
    storage.removeIfOfJob();
    assertEquals(Set.of(), SparkApps.below(job.getParent()));
  }

  @Test
  void aPlaceThatOthersCouldExchangeIsRefused() throws IOException {
    Path project = Files.createDirectory(staging.resolve("project"));
    Path between = Files.createDirectory(project.resolve("ann"));
    Files.setAttribute(project, "unix:mode", 02770);
    ShuffleStorage storage = ShuffleStorage.at(between.resolve("shuffle").toString(), site);
    IOException refused =
        assertThrows(IOException.class, () -> storage.makeApplication("local-1"));
    assertTrue(refused.getMessage().contains("others may write " + project.toRealPath() + ","),
        refused.getMessage());
    assertEquals(Set.of(), SparkApps.below(between));
    Files.setAttribute(project, "unix:mode", 03770);
    assertTrue(storage.makeApplication("local-1").canBeSeen());
  }

  @Test
  void aLinkInTheWayIsRefused() throws IOException {
    Files.createDirectories(job.getParent());
    Files.createSymbolicLink(job, Files.createDirectory(staging.resolve("elsewhere")));
    IOException refused = assertThrows(IOException.class,
        () -> ShuffleStorage.ofJob(APPLICATION, site).makeApplication(APPLICATION));
    assertTrue(refused.getMessage().contains("job_1764370000000_0007 is not a directory itself"),
        refused.getMessage());
    assertEquals(Set.of(), SparkApps.below(staging.resolve("elsewhere")));
  }

  @Test
  void theDirectoryAboveTheUsersMayBeAnothers() throws IOException {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root gives a directory away");
    Files.setAttribute(staging, "unix:uid", 65534);
    Files.setAttribute(staging, "unix:mode", 01777);
    Path own = staging.resolve("own");
    for (ShuffleStorage storage : List.of(ShuffleStorage.at(own.toString(), site),
        ShuffleStorage.ofJob(APPLICATION, site))) {
      assertTrue(storage.makeApplication(APPLICATION).canBeSeen());
    }
  }

  @Test
  void anApplicationThatIsNotYarnsNeedsTheKey() {
    IOException refused = assertThrows(IOException.class,
        () -> ShuffleStorage.ofJob("local-1764370000000", site));
    assertTrue(refused.getMessage().contains("spark.vas.shuffle.directory is not set"));
  }

  @Test
  void aStagingDirectoryThatIsNotOnLustreNeedsTheKey() {
    site.set("yarn.app.mapreduce.am.staging-dir", "hdfs://namenode/user");
    IOException refused = assertThrows(
        IOException.class, () -> ShuffleStorage.ofJob(APPLICATION, site));
    assertTrue(refused.getMessage().contains("must be a path below the mount of Lustre"));
  }
}
