package org.apache.hadoop.mapred;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
  private final PrintStream firstOut = System.out;
  private final PrintStream firstErr = System.err;
  private final List<PrintStream> opened = new ArrayList<>();

  private TaskLogs(Path directory, String firstFile) {
    this.directory = directory;
    this.firstFile = firstFile;
  }

  /** Returns the logs of the container that this JVM is in. */
  static TaskLogs ofContainer() {
    String directory = System.getProperty(YarnConfiguration.YARN_APP_CONTAINER_LOG_DIR, ".");
    return new TaskLogs(Path.of(directory), System.getProperty(FILE, "syslog"));
  }

  /** Ends an attempt's logs, and goes on with the first one's: a task that ends closes its syslog. */
  void end() {
    System.setOut(firstOut);
    System.setErr(firstErr);
    opened.forEach(PrintStream::close);
    opened.clear();
    open(firstFile);
  }

  /** Begins the logs of another attempt. */
  void begin(TaskAttemptID attempt) throws IOException {
    System.setOut(stream("stdout", attempt));
    System.setErr(stream("stderr", attempt));
    open(firstFile + "-" + attempt);
  }

  private PrintStream stream(String name, TaskAttemptID attempt) throws IOException {
    Path file = directory.resolve(name + "-" + attempt);
    PrintStream stream =
        new PrintStream(Files.newOutputStream(file), true, Charset.defaultCharset().name());
    opened.add(stream);
    return stream;
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
