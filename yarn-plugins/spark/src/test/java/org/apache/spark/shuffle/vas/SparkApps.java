package org.apache.spark.shuffle.vas;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;

/** Configurations of Spark applications in the test's JVM, and the directories they use. */
final class SparkApps {
  private SparkApps() {}

  /** Returns a new directory below target, as the parent of a user's shuffle directory. */
  static Path newDirectory() {
    try {
      Path parent = Files.createDirectories(Path.of("target/shuffles").toAbsolutePath());
      return Files.createTempDirectory(parent, "s");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the configuration of an application with Spark's own shuffle. */
  static SparkConf stock() {
    return new SparkConf(false).setMaster("local[2]").setAppName("test")
        .set("spark.ui.enabled", "false")
        .set("spark.cleaner.referenceTracking", "false")
        .set("spark.driver.host", "localhost")
        .set("spark.driver.bindAddress", "127.0.0.1")
        .set("spark.local.dir", Path.of("target/spark-local").toAbsolutePath().toString())
        .set("spark.sql.warehouse.dir", Path.of("target/warehouse").toAbsolutePath().toString());
  }

  /** Returns the configuration of an application with VAS's shuffle in a directory. */
  static SparkConf vas(Path directory) {
    return stock().set("spark.shuffle.manager", VasShuffleManager.class.getName())
        .set("spark.vas.shuffle.directory", directory.toString());
  }

  /** Returns all files and directories below one, by their paths in it. */
  static NavigableSet<String> below(Path directory) {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(file -> !file.equals(directory))
          .map(file -> directory.relativize(file).toString())
          .collect(Collectors.toCollection(TreeSet::new));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the files below a directory whose names end in a suffix, in order. */
  static List<Path> files(Path directory, String suffix) {
    return below(directory).stream().filter(name -> name.endsWith(suffix))
        .map(directory::resolve).collect(Collectors.toList());
  }
}
