package org.apache.hadoop.mapred;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.log4j.LogManager;
import org.apache.log4j.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TaskLogsTest {
  private static final String DIRECTORY = "yarn.app.container.log.dir";
  private static final TaskAttemptID SECOND =
      TaskAttemptID.forName("attempt_1700000000000_0001_m_000002_0");
  private static final TaskAttemptID THIRD =
      TaskAttemptID.forName("attempt_1700000000000_0001_m_000003_0");

  private static final TaskAttemptID REDUCE =
      TaskAttemptID.forName("attempt_1700000000000_0001_r_000001_0");
  private static final String SHUFFLE_FILE = "yarn.app.mapreduce.shuffle.logfile";
  private static final String SHUFFLE_LOGGER = "yarn.app.mapreduce.shuffle.logger";
  private static final JobConf JOB = new JobConf(false);

  private final PrintStream out = System.out;
  private final PrintStream err = System.err;
  @TempDir Path directory;

  @BeforeEach
  void nameTheDirectory() {
    System.setProperty(DIRECTORY, directory.toString());
  }

  @AfterEach
  void restore() {
    System.setOut(out);
    System.setErr(err);
    System.clearProperty(DIRECTORY);
    System.clearProperty("hadoop.root.logfile");
    System.clearProperty("log4j.configuration");
    System.clearProperty(SHUFFLE_FILE);
    System.clearProperty(SHUFFLE_LOGGER);
    LogManager.resetConfiguration();
  }

  @Test
  void whatAnAttemptPrintsIsInItsOwnFiles() throws IOException {
    TaskLogs logs = TaskLogs.ofContainer();
    logs.begin(SECOND, JOB);
    System.out.print("second");
    System.err.print("wrong");
    assertEquals("syslog-" + SECOND, System.getProperty("hadoop.root.logfile"));
    logs.end();
    logs.begin(THIRD, JOB);
    System.out.print("third");
    logs.end();
    assertEquals("second", Files.readString(directory.resolve("stdout-" + SECOND)));
    assertEquals("wrong", Files.readString(directory.resolve("stderr-" + SECOND)));
    assertEquals("third", Files.readString(directory.resolve("stdout-" + THIRD)));
  }

  @Test
  void aStreamThatALibraryKeptWritesToTheRunningAttempt() throws IOException {
    TaskLogs logs = TaskLogs.ofContainer();
    logs.begin(SECOND, JOB);
    PrintStream kept = System.err;
    System.out.close();
    logs.end();
    logs.begin(THIRD, JOB);
    kept.print("kept");
    System.out.print("third");
    logs.end();
    assertEquals("kept", Files.readString(directory.resolve("stderr-" + THIRD)));
    assertEquals("third", Files.readString(directory.resolve("stdout-" + THIRD)));
  }

  @Test
  void betweenAttemptsTheFirstOnesFilesGoOn() throws IOException {
    TaskLogs logs = TaskLogs.ofContainer();
    logs.begin(SECOND, JOB);
    PrintStream second = System.out;
    logs.end();
    assertSame(out, System.out);
    assertEquals("syslog", System.getProperty("hadoop.root.logfile"));
    second.print("a thread that the task left");
    assertEquals("", Files.readString(directory.resolve("stdout-" + SECOND)));
  }

  @Test
  void eachReduceHasAShuffleLogOfItsOwnAndAMapHasNone() throws IOException {
    System.setProperty("log4j.configuration", "warm-log4j.properties");
    TaskLogs logs = TaskLogs.ofContainer();
    logs.begin(REDUCE, JOB);
    Logger.getLogger(Merger.class).info("merges");
    Logger.getLogger("a.job").info("reduces");
    logs.end();
    assertNull(System.getProperty(SHUFFLE_FILE), "the first attempt was a map");
    assertEquals("merges", Files.readString(directory.resolve("syslog.shuffle-" + REDUCE)));
    assertEquals("reduces", Files.readString(directory.resolve("syslog-" + REDUCE)));
  }

  @Test
  void afterAReduceAMapsMergesAreInItsSyslogAndTheFirstReducesLogGoesOn() throws IOException {
    System.setProperty(SHUFFLE_LOGGER, "INFO,shuffleCLA");
    System.setProperty(SHUFFLE_FILE, "syslog.shuffle");
    TaskLogs logs = TaskLogs.ofContainer();
    logs.begin(SECOND, JOB);
    assertNull(System.getProperty(SHUFFLE_LOGGER));
    logs.end();
    assertEquals("syslog.shuffle", System.getProperty(SHUFFLE_FILE));
    JobConf together = new JobConf(JOB);
    together.setBoolean(MRJobConfig.REDUCE_SEPARATE_SHUFFLE_LOG, false);
    logs.begin(REDUCE, together);
    assertNull(System.getProperty(SHUFFLE_FILE), "the job wants its shuffle's lines in syslog");
  }
}
