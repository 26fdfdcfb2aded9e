package org.vas.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InstalledClassesTest {
  private static final String NAME = "org.apache.hadoop.examples.Sum";

  @TempDir Path directory;
  private final Configuration job = new Configuration(false);
  private Path nodes;
  private Path container;

  @BeforeEach
  void makeDirectories() throws IOException {
    nodes = Files.createDirectory(directory.resolve("nodes"));
    container = Files.createDirectory(directory.resolve("container"));
  }

  @Test
  void aClassOfTheNodesIsNotReplaced() throws IOException {
    assertFalse(replaced(jar(nodes.resolve("a.jar"), "one")));
  }

  @Test
  void aClassThatIsNowhereIsNotReplaced() throws IOException {
    assertFalse(replaced());
  }

  @Test
  void aJobsSameJarIsNotReplaced() throws IOException {
    assertFalse(replaced(jar(container.resolve("job.jar"), "one"),
        jar(nodes.resolve("a.jar"), "one")));
  }

  @Test
  void aJobsOtherJarReplaces() throws IOException {
    assertTrue(replaced(jar(container.resolve("job.jar"), "other"),
        jar(nodes.resolve("a.jar"), "one")));
  }

  @Test
  void aJobsOnlyJarReplaces() throws IOException {
    assertTrue(replaced(jar(container.resolve("job.jar"), "one"),
        jar(container.resolve("same.jar"), "one")));
  }

  @Test
  void aJobsOtherJarReplacesAlsoBehindTheNodes() throws IOException {
    assertTrue(replaced(jar(nodes.resolve("a.jar"), "one"),
        jar(container.resolve("job.jar"), "other")));
  }

  @Test
  void aJarThatIsNotThereReplacesNothing() throws IOException {
    assertFalse(replaced(container.resolve("missing.jar")));
  }

  @Test
  void aJarThatIsNoneReplacesNothing() throws IOException {
    assertFalse(replaced(Files.writeString(container.resolve("job.jar"), "not a zip")));
  }

  @Test
  void aJobsClassFileReplaces() throws IOException {
    Path classes = container.resolve("job.jar/classes");
    Path file = classes.resolve(NAME.replace('.', '/') + ".class");
    Files.createDirectories(file.getParent());
    Files.writeString(file, "one");
    assertTrue(replaced(classes, jar(nodes.resolve("a.jar"), "one")));
  }

  @Test
  void aLocalisedHadoopIsTheNodes() throws IOException {
    Files.createDirectory(container.resolve("hadoop"));
    Path jar = jar(container.resolve("hadoop/a.jar"), "one");
    assertTrue(replaced(jar));
    job.set("mapreduce.application.framework.path", "hdfs:/mr/hadoop-3.5.0.tar.gz#hadoop");
    assertFalse(replaced(jar));
    job.set("mapreduce.application.framework.path", "hdfs:/mr/hadoop");
    assertFalse(replaced(jar));
  }

  @Test
  void autoSaysWhichClassIsTheJobs() throws IOException {
    job.set("mapreduce.job.map.class", NAME);
    List<Path> path = List.of(jar(container.resolve("job.jar"), "one"));
    Optional<String> why = ReusePolicy.refusal(job, new InstalledClasses(path, container, job));
    assertTrue(why.orElseThrow().contains(NAME + " of the job's own files"), why.toString());
  }

  private boolean replaced(Path... classPath) throws IOException {
    return new InstalledClasses(List.of(classPath), container, job).isReplaced(NAME);
  }

  private static Path jar(Path path, String bytes) throws IOException {
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(path))) {
      JarEntry entry = new JarEntry(NAME.replace('.', '/') + ".class");
      entry.setTime(0);
      jar.putNextEntry(entry);
      jar.write(bytes.getBytes(UTF_8));
    }
    return path;
  }
}
