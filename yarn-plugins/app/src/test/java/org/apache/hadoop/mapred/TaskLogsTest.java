package org.apache.hadoop.mapred;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
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
  }

  @Test
  void whatAnAttemptPrintsIsInItsOwnFiles() throws IOException {
    TaskLogs logs = TaskLogs.ofContainer();
    logs.begin(SECOND);
    System.out.print("second");
    System.err.print("wrong");
    assertEquals("syslog-" + SECOND, System.getProperty("hadoop.root.logfile"));
    logs.end();
    logs.begin(THIRD);
    System.out.print("third");
    logs.end();
    assertEquals("second", Files.readString(directory.resolve("stdout-" + SECOND)));
    assertEquals("wrong", Files.readString(directory.resolve("stderr-" + SECOND)));
    assertEquals("third", Files.readString(directory.resolve("stdout-" + THIRD)));
  }

  @Test
  void betweenAttemptsTheFirstOnesFilesGoOn() throws IOException {
    TaskLogs logs = TaskLogs.ofContainer();
    logs.begin(SECOND);
    PrintStream second = System.out;
    logs.end();
    assertSame(out, System.out);
    assertEquals("syslog", System.getProperty("hadoop.root.logfile"));
    second.print("a thread that the task left");
    assertEquals("", Files.readString(directory.resolve("stdout-" + SECOND)));
  }
}
