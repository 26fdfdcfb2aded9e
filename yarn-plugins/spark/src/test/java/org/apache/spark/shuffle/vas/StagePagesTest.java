package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.deploy.history.HistoryServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the driver's web server tells of a shuffle's work, and the history server afterwards: the
 * numbers from which a script of Spark draws the stage's page in a browser.
 */
class StagePagesTest {
  private static final int MAPS = 4;
  private static final int REDUCERS = 7;
  private static final String NAME = "map output on Lustre, shuffle 0";
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private final Path directory = SparkApps.newDirectory();

  private SparkConf conf() throws IOException {
    return SparkApps.vas(directory.resolve("shuffle"))
        .set("spark.ui.enabled", "true").set("spark.ui.port", "0")
        .set("spark.eventLog.enabled", "true").set("spark.eventLog.rolling.enabled", "false")
        .set("spark.eventLog.dir", Files.createDirectories(directory.resolve("events")).toString());
  }

  /** The sum of a shuffle is what the process has counted, which had no other. */
  @Test
  void theDriversPagesShowWhatTasksCounted() throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(conf())) {
      shuffle(context);
      String api = context.sc().uiWebUrl().get()
          + "/api/v1/applications/" + context.sc().applicationId() + "/stages/";
      assertEquals(CountedWorkTest.counted(), numbers(ofStage(json(api + "1/0"))));
      assertEquals(Map.of("files", 2L * MAPS, "bytesWritten",
          CountedWorkTest.counted().get("bytesWritten")), withoutZeros(ofStage(json(api + "0/0"))));
      JsonNode tasks = json(api + "1/0/taskList");
      assertEquals(REDUCERS, tasks.size());
      for (JsonNode task : tasks) {
        assertEquals(MAPS, numbers(task.get("accumulatorUpdates").get(0).get("update").asText())
            .get("opens"), "each task's own");
      }
    }
  }

  @Test
  @Timeout(180)
  void theHistoryServerShowsItAfterwards() throws Exception {
    String application;
    Map<String, Long> counted;
    try (JavaSparkContext context = new JavaSparkContext(conf())) {
      shuffle(context);
      application = context.sc().applicationId();
      counted = CountedWorkTest.counted();
    }
    List<String> command = LifeTest.command(HistoryServer.class);
    command.addAll(1, List.of("-Dspark.history.ui.port=0",
        "-Dspark.history.fs.logDirectory=file://" + directory.resolve("events")));
    Process server = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedReader lines = server.inputReader()) {
      String api = started(lines) + "/api/v1/applications/" + application + "/stages/1/0";
      while (status(api) != 200) {
        Thread.sleep(200);
      }
      assertEquals(counted, numbers(ofStage(json(api))));
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  private static void shuffle(JavaSparkContext context) throws Exception {
    Jobs.pairs(context, 20_000, 997).partitionBy(new HashPartitioner(REDUCERS)).count();
    context.sc().listenerBus().waitUntilEmpty();
  }

  private static String started(BufferedReader lines) throws IOException {
    StringBuilder said = new StringBuilder();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      said.append(line).append('\n');
      Matcher found = Pattern.compile("HistoryServer .*http://\\S+:(\\d+)").matcher(line);
      if (found.find()) {
        return "http://localhost:" + found.group(1);
      }
    }
    throw new IOException(said.toString());
  }

  private static String ofStage(JsonNode stage) {
    JsonNode updates = (stage.isArray() ? stage.get(0) : stage).get("accumulatorUpdates");
    for (JsonNode each : updates) {
      if (each.get("name").asText().equals(NAME)) {
        return each.get("value").asText();
      }
    }
    throw new AssertionError(stage.toString());
  }

  /** Returns all kinds, as the process counts all: what is not told is 0. */
  private static Map<String, Long> numbers(String told) {
    Map<String, Long> numbers = new TreeMap<>(withoutZeros(told));
    for (WorkKind each : WorkKind.values()) {
      numbers.putIfAbsent(each.shown(), 0L);
    }
    return numbers;
  }

  private static Map<String, Long> withoutZeros(String told) {
    Map<String, Long> numbers = new TreeMap<>();
    Matcher each = Pattern.compile("(\\w+) (\\d+)(, |$)").matcher(told);
    while (each.find()) {
      numbers.put(each.group(1), Long.valueOf(each.group(2)));
    }
    return numbers;
  }

  private static JsonNode json(String url) throws Exception {
    return new ObjectMapper().readTree(get(url));
  }

  private static String get(String url) throws Exception {
    HttpResponse<String> answer = ask(url);
    assertEquals(200, answer.statusCode(), url + ": " + answer.body());
    return answer.body();
  }

  private static int status(String url) throws Exception {
    return ask(url).statusCode();
  }

  private static HttpResponse<String> ask(String url) throws Exception {
    return CLIENT.send(HttpRequest.newBuilder(URI.create(url)).build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
