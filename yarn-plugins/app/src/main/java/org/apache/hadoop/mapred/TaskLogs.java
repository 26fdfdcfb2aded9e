package org.apache.hadoop.mapred;

import java.io.IOException;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.v2.util.MRApps;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.log4j.LogManager;
import org.apache.log4j.helpers.Loader;
import org.apache.log4j.helpers.OptionConverter;

/**
 * The logs of the attempts that one container runs. The first attempt's are {@code syslog}, {@code
 * stdout} and {@code stderr}, and a reduce's {@code syslog.shuffle}, as every container has them;
 * the logs of a later attempt have its name behind a dash.
 */
final class TaskLogs {
  private static final String FILE = "hadoop.root.logfile";
  private static final String CONFIGURATION = "log4j.configuration";
  // Stock gives a reduce's JVM the properties of its shuffle's log, and a map's JVM none.
  private static final String SHUFFLE = MRJobConfig.MR_PREFIX + "shuffle.log";
  private static final String SHUFFLE_FILE = SHUFFLE + "file";
  private static final List<String> SHUFFLES = List.of(
      SHUFFLE + "ger", SHUFFLE_FILE, SHUFFLE + ".filesize", SHUFFLE + ".backups");

  private final Path directory;
  private final String firstFile;
  private final Map<String, String> firstShuffle = shuffleNow();
  private final LaterOutput out = new LaterOutput(System.out);
  private final LaterOutput err = new LaterOutput(System.err);

  private TaskLogs(Path directory, String firstFile) {
    this.directory = directory;
    this.firstFile = firstFile;
  }

  /** Returns the logs of the container that this JVM is in. */
  static TaskLogs ofContainer() {
    String directory = System.getProperty(YarnConfiguration.YARN_APP_CONTAINER_LOG_DIR, ".");
    return new TaskLogs(Path.of(directory), System.getProperty(FILE, "syslog"));
  }

  /**
   * Closes an attempt's logs and opens the first attempt's again, as a task that ends closes its
   * syslog.
   */
  void end() {
    System.setOut(out.end());
    System.setErr(err.end());
    open(firstFile, firstShuffle);
  }

  /**
   * Opens the logs of another attempt.
   *
   * @param job the job's configuration
   */
  void begin(TaskAttemptID attempt, JobConf job) throws IOException {
    System.setOut(out.begin(directory.resolve("stdout-" + attempt)));
    System.setErr(err.begin(directory.resolve("stderr-" + attempt)));
    Map<String, String> shuffle =
        attempt.getTaskType() == TaskType.REDUCE ? shuffleOfReduce(job) : new HashMap<>();
    shuffle.computeIfPresent(SHUFFLE_FILE, (key, file) -> file + "-" + attempt);
    open(firstFile + "-" + attempt, shuffle);
  }

  private static Map<String, String> shuffleNow() {
    Map<String, String> found = new HashMap<>();
    for (String key : SHUFFLES) {
      String value = System.getProperty(key);
      if (value != null) {
        found.put(key, value);
      }
    }
    return found;
  }

  // What stock's launcher writes on the command line of a reduce's JVM.
  private static Map<String, String> shuffleOfReduce(JobConf job) {
    List<String> options = new ArrayList<>();
    MRApps.addLog4jSystemProperties(new ReduceTask(), options, job);
    Map<String, String> found = new HashMap<>();
    for (String option : options) {
      String[] words = option.substring("-D".length()).split("=", 2);
      if (SHUFFLES.contains(words[0])) {
        found.put(words[0], words[1]);
      }
    }
    return found;
  }

  private static void open(String file, Map<String, String> shuffle) {
    System.setProperty(FILE, file);
    SHUFFLES.forEach(System::clearProperty);
    shuffle.forEach(System::setProperty);
    URL configuration = Loader.getResource(System.getProperty(CONFIGURATION, "log4j.properties"));
    if (configuration != null) {
      LogManager.resetConfiguration();
      OptionConverter.selectAndConfigure(configuration, null, LogManager.getLoggerRepository());
    }
  }
}
