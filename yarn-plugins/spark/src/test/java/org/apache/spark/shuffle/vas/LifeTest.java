package org.apache.spark.shuffle.vas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.NavigableSet;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;

/** What an application makes in its user's directory, and what is left of it. */
class LifeTest {
  private final Path directory = SparkApps.newDirectory().resolve("shuffle");

  @Test
  void twoFilesForEachMapTaskAndTheUsersAlone() throws IOException {
    try (JavaSparkContext context = new JavaSparkContext(SparkApps.vas(directory))) {
      Jobs.groupByKey(context);
      Jobs.reduceByKey(context);
      NavigableSet<String> all = SparkApps.below(directory);
      Set<Path> made = all.stream().map(directory::resolve).collect(Collectors.toSet());
      assertEquals(2 * 8, made.stream().filter(Files::isRegularFile).count(), all::toString);
      made.add(directory);
      for (Path each : made) {
        assertEquals(Files.isDirectory(each) ? "rwx------" : "rw-------",
            PosixFilePermissions.toString(Files.getPosixFilePermissions(each)), each.toString());
      }
    }
    assertEquals(Set.of(), SparkApps.below(directory));
  }

  @Test
  void twoApplicationsAtOnce() throws Exception {
    Process second = new ProcessBuilder(command(Other.class, directory.toString()))
        .redirectErrorStream(true).start();
    try (BufferedReader lines = second.inputReader();
        JavaSparkContext context = new JavaSparkContext(SparkApps.vas(directory))) {
      StringBuilder said = new StringBuilder();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        said.append(line).append('\n');
        if (line.equals("started")) {
          break;
        }
      }
      assertEquals(2, SparkApps.below(directory).stream().filter(name -> !name.contains("/"))
          .count(), said::toString);
      String expected = "result " + Jobs.all(context).toString().hashCode();
      said.append(String.join("\n", lines.lines().toList()));
      assertEquals(0, second.waitFor(), said::toString);
      assertTrue(said.toString().contains(expected), said::toString);
      assertTrue(SparkApps.files(directory, ".data").size() > 0, "the first has its files still");
    }
    assertEquals(Set.of(), SparkApps.below(directory));
  }

  @Test
  void aShuffleThatIsNotNeededIsRemoved() throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(SparkApps.vas(directory))) {
      JavaPairRDD<Integer, Iterable<String>> groups = Jobs.pairs(context, 100, 10).groupByKey(3);
      groups.count();
      assertEquals(4, SparkApps.files(directory, ".data").size());
      context.sc().shuffleDriverComponents().removeShuffle(0, true);
      assertEquals(List.of(), SparkApps.files(directory, ".data"));
      assertEquals(10, groups.count(), "and made again where it is needed after all");
    }
  }

  @Test
  void aTaskThatFailsLeavesNothing() {
    try (JavaSparkContext context = new JavaSparkContext(SparkApps.vas(directory))) {
      assertThrows(Exception.class, () -> Jobs.pairs(context, 100, 10).mapValues(value -> {
        if (value.endsWith("9")) {
          throw new IllegalStateException("the test's");
        }
        return value;
      }).groupByKey(3).count());
      assertEquals(List.of(), SparkApps.files(directory, ".data"));
    }
  }

  @Test
  void aLinkIsRefused() throws IOException {
    Path real = Files.createDirectory(directory.resolveSibling("real"));
    Files.createSymbolicLink(directory, real);
    refused("is not a directory itself");
  }

  @Test
  void aDirectoryThatOthersMayWriteIsRefused() throws IOException {
    Files.createDirectory(directory);
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwx---"));
    refused("may be written by others");
  }

  @Test
  void aDirectoryWithoutOneAboveItIsRefused() {
    Path nowhere = directory.resolve("no/such/place");
    assertTrue(start(SparkApps.vas(nowhere)).contains("no/such"), "it names what is missing");
  }

  @Test
  void settingsThatContradictItAreRefused() {
    assertTrue(start(SparkApps.vas(directory).remove("spark.vas.shuffle.directory"))
        .contains("spark.vas.shuffle.directory is '': name a directory"));
    assertTrue(start(SparkApps.vas(directory).set("spark.shuffle.useOldFetchProtocol", "true"))
        .contains("two attempts of a map would have one name"));
    assertTrue(start(SparkApps.vas(directory).set("spark.shuffle.push.enabled", "true"))
        .contains("spark.shuffle.push.enabled is 'true'"));
    assertTrue(start(SparkApps.vas(directory).set("spark.vas.shuffle.directory", "s3://b/x"))
        .contains("must be a path below the mount"));
  }

  private void refused(String why) {
    String message = start(SparkApps.vas(directory));
    assertTrue(message.contains(why) && message.contains("spark.vas.shuffle.directory"), message);
  }

  private static String start(SparkConf conf) {
    StringBuilder all = new StringBuilder();
    Throwable error = assertThrows(Exception.class, () -> new JavaSparkContext(conf).close());
    for (Throwable each = error; each != null; each = each.getCause()) {
      all.append(each.getMessage()).append('\n');
    }
    return all.toString();
  }

  /** Returns the command that runs a main class with the class path and options of this JVM. */
  static List<String> command(Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.add("-cp");
    command.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return command;
  }

  /** The second application. */
  public static final class Other {
    private Other() {}

    public static void main(String[] arguments) {
      try (JavaSparkContext context =
          new JavaSparkContext(SparkApps.vas(Path.of(arguments[0])))) {
        System.out.println("started");
        System.out.println("result " + Jobs.all(context).toString().hashCode());
      }
    }
  }
}
