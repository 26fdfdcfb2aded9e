package org.vas.dist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Checks the jar that is installed; runs after it is packaged. */
class DistributionJarTest {
  private static final String SERVICES = "META-INF/services/";

  private final Path jar = Path.of(System.getProperty("vas.jar"));

  @Test
  void holdsEveryClassAndResourceOfTheModules() throws IOException {
    Set<String> missing = new TreeSet<>(Modules.files().keySet());
    missing.removeIf(name -> name.startsWith("META-INF/") || name.equals("module-info.class"));
    assertFalse(missing.isEmpty());
    missing.removeAll(entries());
    assertEquals(Set.of(), missing);
  }

  @Test
  void holdsNothingButOursAndTheRelocatedYamlParser() throws IOException {
    Set<String> packages = entries().stream()
        .filter(name -> !name.startsWith("META-INF/"))
        .map(name -> name.replaceFirst("^(org/vas/[^/]+)/.*", "$1"))
        .map(name -> name.replaceFirst("^(org/apache/hadoop/.*)/[A-Z][^/]*$", "$1"))
        .collect(Collectors.toCollection(TreeSet::new));
    // What extends package-private classes of Hadoop's master and of its tasks is beside them.
    assertEquals(Set.of("org/vas/conf", "org/vas/site", "org/vas/layout", "org/vas/filesystem",
        "org/vas/scheduler", "org/vas/shuffle", "org/vas/app", "org/vas/shaded",
        "org/apache/hadoop/mapred", "org/apache/hadoop/mapreduce/v2/app",
        "org/apache/hadoop/mapreduce/v2/app/rm", "org/apache/hadoop/util"), packages);
  }

  @Test
  void metadataIsTheManifestTheLicenceTheNoticeAndTheServices() throws IOException {
    List<String> others = entries().stream()
        .filter(name -> name.startsWith("META-INF/") && !name.startsWith(SERVICES))
        .collect(Collectors.toList());
    assertEquals(
        List.of("META-INF/LICENSE", "META-INF/MANIFEST.MF", "META-INF/NOTICE"), others);
  }

  @Test
  void theLicenceIsTheRepositorysAndTheNoticeNamesWhatIsBundled() throws IOException {
    Path licence = Path.of(System.getProperty("basedir", "")).toAbsolutePath()
        .resolve("../../LICENSE").normalize();
    try (JarFile file = new JarFile(jar.toFile())) {
      assertEquals(Files.readString(licence), read(file, "META-INF/LICENSE"));
      assertTrue(read(file, "META-INF/NOTICE").contains("SnakeYAML Engine"));
    }
  }

  @Test
  void everyModulesServicesAreMerged() throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      for (Map.Entry<String, byte[]> module : Modules.files().entrySet()) {
        if (module.getKey().startsWith(SERVICES)) {
          String merged = read(file, module.getKey());
          new String(module.getValue(), StandardCharsets.UTF_8).lines()
              .forEach(line -> assertTrue(merged.lines().anyMatch(line::equals), line));
        }
      }
    }
  }

  // Alone, without the YAML parser's own jar beside it.
  @Test
  void readsSiteDescriptionWithItsOwnParser() throws Exception {
    Path example = Path.of(System.getProperty("basedir", "")).toAbsolutePath()
        .resolve("../../cluster/examples/laptop-lab.yaml").normalize();
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader alone = new URLClassLoader(new URL[] {jar.toUri().toURL()}, platform)) {
      Class<?> type = alone.loadClass("org.vas.site.ClusterMap");
      Object map = type.getMethod("load", Path.class).invoke(null, example);
      assertEquals("lab", type.getMethod("fsname").invoke(map));
    }
  }

  @Test
  void theManifestTellsTheVersion() throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      String version = file.getManifest().getMainAttributes().getValue("Implementation-Version");
      assertEquals("vas-yarn-plugins-" + version + ".jar", String.valueOf(jar.getFileName()));
    }
  }

  private Set<String> entries() throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      return file.stream().filter(entry -> !entry.isDirectory()).map(entry -> entry.getName())
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private static String read(JarFile file, String name) throws IOException {
    try (InputStream in = file.getInputStream(file.getEntry(name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
