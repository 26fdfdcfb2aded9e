package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.FileSystem.Statistics;
import org.apache.hadoop.fs.Path;

/**
 * Runs the calls of a file system, each on one path: counts it, finds the file below the mount,
 * and gives its errors the types that Hadoop's callers expect, naming the path as the caller did.
 */
final class Operations {
  private final Statistics statistics;
  private final UnaryOperator<Path> qualified;
  private final MountPaths paths;
  private final LinkGuard links;
  private final OstFaults faults;
  private final NameProblems names;

  /**
   * Makes the calls of one file system.
   *
   * @param qualified gives a path as it is shown to callers, and refuses one of another file system
   * @param links opens what paths lead to
   */
  Operations(Statistics statistics, UnaryOperator<Path> qualified, MountPaths paths,
      LinkGuard links, OstFaults faults) {
    this.statistics = requireNonNull(statistics, "statistics");
    this.qualified = requireNonNull(qualified, "qualified");
    this.paths = requireNonNull(paths, "paths");
    this.links = requireNonNull(links, "links");
    this.faults = requireNonNull(faults, "faults");
    this.names = new NameProblems(paths, links);
  }

  /** Does something with a file, given its path as shown to callers and the one below the mount. */
  @FunctionalInterface
  interface Operation<T> {
    T apply(Path shown, java.nio.file.Path file) throws IOException;
  }

  /** Changes a file, given its path below the mount; has no result. */
  @FunctionalInterface
  interface Change {
    void apply(java.nio.file.Path file) throws IOException;
  }

  /**
   * Reads a file or its metadata; counts one read. The operation gets a path that leads to this
   * file while it runs, whatever takes the file's name: see {@link Descriptor}.
   *
   * @throws java.io.FileNotFoundException if the file is not there
   */
  <T> T reading(Path path, Operation<T> operation) throws IOException {
    statistics.incrementReadOps(1);
    return existing(path, LinkGuard.Use.READ, operation);
  }

  /** Runs an operation that opens the path by itself; counts one read. */
  <T> T readingName(Path path, Operation<T> operation) throws IOException {
    statistics.incrementReadOps(1);
    return IoErrors.reading(
        path, () -> faults.naming(() -> operation.apply(shown(path), file(path))));
  }

  /** Reads the metadata of a name itself, which may be a symbolic link; counts one read. */
  <T> T readingLink(Path path, Operation<T> operation) throws IOException {
    statistics.incrementReadOps(1);
    return IoErrors.reading(path, () -> {
      try (GuardedEntry entry = links.entry(file(path), LinkGuard.Use.READ)) {
        return faults.naming(() -> operation.apply(shown(path), entry.path()));
      }
    });
  }

  /** Reads the entries of a directory, counted as a large read. */
  <T> T listing(Path path, Operation<T> operation) throws IOException {
    statistics.incrementLargeReadOps(1);
    return existing(path, LinkGuard.Use.READ, operation);
  }

  /** Changes a file that must be there, and returns the operation's result; counts one write. */
  <T> T writing(Path path, Operation<T> operation) throws IOException {
    statistics.incrementWriteOps(1);
    return existing(path, LinkGuard.Use.CHANGE, operation);
  }

  /** Changes a file that must be there, by an operation without a result; counts one write. */
  void change(Path path, Change change) throws IOException {
    writing(path, (shown, file) -> {
      change.apply(file);
      return null;
    });
  }

  /**
   * Makes, moves or removes a name; counts one write.
   *
   * @throws org.apache.hadoop.fs.ParentNotDirectoryException if a file is in a directory's place
   */
  <T> T naming(Path path, Operation<T> operation) throws IOException {
    statistics.incrementWriteOps(1);
    return IoErrors.translating(
        path, () -> faults.naming(() -> operation.apply(shown(path), file(path))));
  }

  /** Returns the local path, below the mount, of a path of this file system. */
  java.nio.file.Path file(Path path) throws IOException {
    return paths.local(shown(path));
  }

  private <T> T existing(Path path, LinkGuard.Use use, Operation<T> operation)
      throws IOException {
    return IoErrors.reading(path, () -> {
      try (Descriptor object = links.object(file(path), use)) {
        return faults.naming(() -> operation.apply(shown(path), object.path()));
      } catch (NoSuchFileException e) {
        names.explain(file(path));
        throw e;
      }
    });
  }

  private Path shown(Path path) {
    return qualified.apply(path);
  }
}
