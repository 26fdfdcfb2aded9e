package org.apache.hadoop.mapred;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.log4j.LogManager;
import org.apache.log4j.helpers.Loader;
import org.apache.log4j.helpers.OptionConverter;

/**
 * The logs of the attempts that one container runs. The first attempt's are {@code syslog}, {@code
 * stdout} and {@code stderr}, as every container has them; another's have its name behind a dash.
 */
final class TaskLogs {
  private static final String FILE = "hadoop.root.logfile";
  private static final String CONFIGURATION = "log4j.configuration";

  private final Path directory;
  private final String firstFile;

  private TaskLogs(Path directory, String firstFile) {
    this.directory = directory;
    this.firstFile = firstFile;
  }

  /** Returns the logs of the container that this JVM is in. */
  static TaskLogs ofContainer() {
    String directory = System.getProperty(YarnConfiguration.YARN_APP_CONTAINER_LOG_DIR, ".");
    return new TaskLogs(Path.of(directory), System.getProperty(FILE, "syslog"));
  }

  /** Goes on with the first attempt's syslog: a task that ends closes all logs. */
  void reopen() {
    open(firstFile);
  }

  /** Begins the logs of another attempt. */
  void begin(TaskAttemptID attempt) throws IOException {
    PrintStream out = stream("stdout", attempt);
    PrintStream err = stream("stderr", attempt);
    System.setOut(out);
    System.setErr(err);
    open(firstFile + "-" + attempt);
  }

  private PrintStream stream(String name, TaskAttemptID attempt) throws IOException {
    Path file = directory.resolve(name + "-" + attempt);
    return new PrintStream(Files.newOutputStream(file), true, Charset.defaultCharset().name());
  }

  private static void open(String file) {
    System.setProperty(FILE, file);
    URL configuration = Loader.getResource(System.getProperty(CONFIGURATION, "log4j.properties"));
    if (configuration != null) {
      LogManager.resetConfiguration();
      OptionConverter.selectAndConfigure(configuration, null, LogManager.getLoggerRepository());
    }
  }
}
