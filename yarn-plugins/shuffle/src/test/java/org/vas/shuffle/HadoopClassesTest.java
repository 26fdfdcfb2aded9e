package org.vas.shuffle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.forged.ForgedComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapred.lib.KeyFieldBasedComparator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tells Hadoop's own classes from those of a job. */
class HadoopClassesTest {
  @TempDir Path dir;

  @Test
  void W1_hadoopsJarsHaveHadoopsClasses() {
    assertTrue(HadoopClasses.include(Text.Comparator.class));
    assertTrue(HadoopClasses.include(GzipCodec.class));
    assertTrue(HadoopClasses.include(KeyFieldBasedComparator.class));
    assertFalse(HadoopClasses.include(String.class));
    assertFalse(HadoopClasses.include(HadoopClassesTest.class));
  }

  @Test
  void W1_aNameIsNoProof() {
    assertFalse(HadoopClasses.include(ForgedComparator.class));
  }

  /** A second copy of Hadoop, as a job's own class loader has it. */
  @Test
  void W1_anotherClassLoadersHadoopIsNotHadoops() throws Exception {
    URL jar = Text.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader jobs = new URLClassLoader(new URL[] {jar}, null)) {
      Class<?> copy = jobs.loadClass("org.apache.hadoop.io.NullWritable");
      assertNotEquals(getClass().getClassLoader(), copy.getClassLoader());
      assertFalse(HadoopClasses.include(copy));
    }
  }

  /** As YARN lays out a container: what is localised lies elsewhere, and is linked. */
  @ParameterizedTest
  @CsvSource({"cache/1/job.jar/job.jar, true", "cache/1/job.jar/lib/hadoop-common.jar, true",
      "cache/2/hadoop-common.jar, true", "container/classes.jar, true", "container, true",
      "cache/3/hadoop.tgz/share/hadoop-common.jar, false", "hadoop/hadoop-common.jar, false"})
  void W1_jarsOfTheJobAreKnownByTheirPlace(String place, boolean jobs) throws IOException {
    Path root = dir.toRealPath();
    Path working = Files.createDirectories(root.resolve("container"));
    Files.createSymbolicLink(
        working.resolve("job.jar"), file("cache/1/job.jar/job.jar").getParent());
    file("cache/1/job.jar/lib/hadoop-common.jar");
    Files.createSymbolicLink(
        working.resolve("hadoop-common.jar"), file("cache/2/hadoop-common.jar"));
    Files.createSymbolicLink(working.resolve("mr-framework"),
        file("cache/3/hadoop.tgz/share/hadoop-common.jar").getParent().getParent());
    Files.createSymbolicLink(working.resolve("gone"), root.resolve("not there"));
    file("container/classes.jar");
    file("hadoop/hadoop-common.jar");
    assertEquals(jobs, HadoopClasses.isJobs(root.resolve(place).toRealPath(), working));
  }

  private Path file(String name) throws IOException {
    Path file = dir.toRealPath().resolve(name);
    Files.createDirectories(file.getParent());
    return Files.createFile(file);
  }

  /** A process whose class path begins with a copy of Hadoop, of the job's or of the site's. */
  @ParameterizedTest
  @CsvSource({"job.jar, false", "libjar, false", "site, true"})
  void W1_aJobThatBringsHadoopIsSeenInATask(String where, boolean hadoops) throws Exception {
    Path working = Files.createDirectories(dir.resolve("work"));
    Path common = jarOf(Text.class);
    Path directory = Files.createDirectories(dir.resolve("cache"));
    Path brought = directory.resolve("hadoop-common.jar");
    Files.copy(common, brought);
    Path element = brought;
    if (where.equals("job.jar")) {
      element = Files.createSymbolicLink(working.resolve("job.jar"), directory)
          .resolve("hadoop-common.jar");
    } else if (where.equals("libjar")) {
      element = Files.createSymbolicLink(working.resolve("hadoop-common.jar"), brought);
    }
    assertEquals("" + hadoops, task(working, element));
  }

  private static Path jarOf(Class<?> kind) throws Exception {
    return Path.of(kind.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static String task(Path working, Path first) throws Exception {
    String classPath = System.getProperty("surefire.test.class.path",
        System.getProperty("java.class.path"));
    Process process = new ProcessBuilder(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        first + ":" + classPath, HadoopClassesTest.class.getName())
        .directory(working.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    process.waitFor();
    return output;
  }

  /** Prints whether Text's comparator is Hadoop's own. */
  public static void main(String[] arguments) {
    System.out.println(HadoopClasses.include(Text.Comparator.class));
  }
}
