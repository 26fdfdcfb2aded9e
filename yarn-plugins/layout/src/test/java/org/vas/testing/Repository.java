package org.vas.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the files that the Python and the Java tests share. */
public final class Repository {
  private Repository() {}

  public static Path path(String relative) {
    Path module = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    return module.resolve("../..").resolve(relative).normalize();
  }

  /** The files of a folder with that ending, sorted; never none. */
  public static List<Path> files(String folder, String ending) {
    try (Stream<Path> children = Files.list(path(folder))) {
      List<Path> found = children.filter(child -> child.toString().endsWith(ending))
          .sorted().collect(Collectors.toList());
      if (found.isEmpty()) {
        throw new AssertionError("no *" + ending + " in " + folder);
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static Path withEnding(Path file, String ending) {
    String name = String.valueOf(file.getFileName());
    return file.resolveSibling(name.substring(0, name.lastIndexOf('.')) + ending);
  }
}
