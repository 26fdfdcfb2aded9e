package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Writes decisions to each application's own file. */
@Timeout(60)
class DecisionFilesTest {
  private static final ApplicationId APP = ApplicationId.newInstance(1, 1);

  @TempDir
  private Path directory;
  private final AtomicInteger leftOut = new AtomicInteger();

  private DecisionFiles files() {
    return new DecisionFiles(directory, leftOut::incrementAndGet);
  }

  @Test
  void theResourceManagerWritesWhatTheOwnerOfAJobMayRead() throws Exception {
    Configuration conf = RmHarness.conf();
    conf.set(PlacementConf.LOG_DIRECTORY.name(), directory.toString());
    try (RmHarness yarn = new RmHarness(conf)) {
      RmHarness.Job job = yarn.submit("MAPREDUCE");
      RmHarness.Job other = yarn.submit("MAPREDUCE");
      job.ask("vm1", 1);
      job.grantedAfterBeatOf("vm1");
      other.ask("vm2", 1);
      yarn.drainLog();
      Path owners = directory.resolve(job.app().getUser());
      assertEquals("rwx------",
          PosixFilePermissions.toString(Files.getPosixFilePermissions(owners)));
      String text = Files.readString(owners.resolve(job.app().getApplicationId() + ".log"));
      assertTrue(text.contains(" vas.placement: event=grant app=" + job.app().getApplicationId()
          + " key=20 host=vm1 node=vm1 locality=local"), text);
      assertFalse(text.contains("host=vm2"), text);
    }
  }

  @Test
  void aFileThatIsThereIsNotWrittenTo() throws Exception {
    Path victim = Files.writeString(directory.resolve("victim"), "theirs");
    Path owners = Files.createDirectory(directory.resolve("ann"));
    Files.createSymbolicLink(owners.resolve(APP + ".log"), victim);
    Files.createLink(owners.resolve(APP + ".1.log"), victim);
    files().write(APP, "ann", "event=strict");
    assertEquals("theirs", Files.readString(victim));
    assertEquals("event=strict\n", Files.readString(owners.resolve(APP + ".2.log")));
    assertEquals(0, leftOut.get());
  }

  @Test
  void aNameThatLeadsElsewhereAndADirectoryThatIsALinkAreRefused() throws Exception {
    Path outside = Files.createDirectory(directory.resolve("outside"));
    Files.createSymbolicLink(directory.resolve("bob"), outside);
    DecisionFiles files = files();
    int id = 1;
    for (String name : new String[] {"..", "a/b", "", "bob", null}) {
      files.write(ApplicationId.newInstance(2, id++), name, "event=strict");
    }
    assertEquals(5, leftOut.get());
    try (var left = Files.list(outside)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void oldFilesGoWhenANewOneIsCreatedAndNothingElseDoes() throws Exception {
    Path owners = Files.createDirectory(directory.resolve("ann"));
    FileTime old = FileTime.from(Instant.now().minus(DecisionFiles.KEPT).minusSeconds(60));
    for (String name : new String[] {"application_0_0001.log", "application_0_0001.1.log", "mine"}) {
      Files.setLastModifiedTime(Files.createFile(owners.resolve(name)), old);
    }
    Files.createFile(owners.resolve("application_0_0002.log"));
    files().write(APP, "ann", "event=strict");
    try (var left = Files.list(owners)) {
      assertEquals(Set.of(APP + ".log", "application_0_0002.log", "mine"),
          left.map(file -> file.getFileName().toString()).collect(Collectors.toSet()));
    }
  }

  @Test
  void whatCannotBeCreatedIsTriedOnceAndCounted() throws Exception {
    DecisionFiles files = new DecisionFiles(directory.resolve("missing"), leftOut::incrementAndGet);
    files.write(APP, "ann", "one");
    files.write(APP, "ann", "two");
    assertEquals(2, leftOut.get());
    assertFalse(Files.exists(directory.resolve("missing")));
  }

  @Test
  void aFileHasABoundAndSoHaveOpenFiles() throws Exception {
    DecisionFiles files = files();
    String line = "x".repeat(1 << 20);
    for (int i = 0; i < 17; i++) {
      files.write(APP, "ann", line);
    }
    assertTrue(Files.size(directory.resolve("ann/" + APP + ".log")) <= DecisionFiles.MOST_BYTES);
    assertEquals(2, leftOut.get());
    for (int i = 0; i < DecisionFiles.MOST_OPEN + 1; i++) {
      files.write(ApplicationId.newInstance(3, i), "ann", "first");
    }
    files.write(ApplicationId.newInstance(3, 0), "ann", "second");
    assertEquals("second\n",
        Files.readString(directory.resolve("ann/" + ApplicationId.newInstance(3, 0) + ".1.log")));
  }

  @Test
  void aPathThatIsNotAbsoluteIsRefused() {
    Configuration conf = new Configuration(false);
    conf.set(PlacementConf.LOG_DIRECTORY.name(), "yarn/placement");
    assertThrows(IllegalArgumentException.class, () -> PlacementConf.logDirectory(conf));
  }
}
