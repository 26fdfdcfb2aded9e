package org.vas.dist;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files of the modules that the jar is made of, found on the test's classpath. */
final class Modules {
  private Modules() {}

  /** Path in the module and content, of all modules' classes and resources. */
  static SortedMap<String, byte[]> files() throws IOException {
    SortedMap<String, byte[]> files = new TreeMap<>();
    for (Path entry : classpath()) {
      if (Files.isDirectory(entry)) {
        addTree(entry, files);
      } else {
        try (FileSystem jar = FileSystems.newFileSystem(entry, (ClassLoader) null)) {
          addTree(jar.getPath("/"), files);
        }
      }
    }
    return files;
  }

  // A module is a directory of classes while Maven tests and a jar once it has packaged.
  private static List<Path> classpath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.endsWith("/target/classes")
            || entry.matches(".*/vas-[a-z]+-[^/]*\\.jar"))
        .filter(entry -> !entry.contains("/dist/"))
        .map(Path::of).filter(Files::exists).collect(Collectors.toList());
  }

  private static void addTree(Path root, Map<String, byte[]> files) throws IOException {
    List<Path> found = new ArrayList<>();
    try (Stream<Path> tree = Files.walk(root)) {
      tree.filter(Files::isRegularFile).forEach(found::add);
    }
    for (Path file : found) {
      files.put(root.relativize(file).toString(), Files.readAllBytes(file));
    }
  }
}
