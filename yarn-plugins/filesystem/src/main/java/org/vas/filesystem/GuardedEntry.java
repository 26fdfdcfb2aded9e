package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/** A name in a directory that is held open, so that nothing planted above it can lead elsewhere. */
final class GuardedEntry implements Closeable {
  private final Descriptors calls;
  private final Descriptor directory;
  private final String name;
  private final Descriptor found;
  private final Path shown;

  /**
   * Takes over an open directory, which {@link #close} closes.
   *
   * @param name the name in the directory; empty for the directory itself
   * @param found what has the name, which {@link #close} closes too; null where that is not open
   * @param shown the name's path, for errors
   */
  GuardedEntry(
      Descriptors calls, Descriptor directory, String name, Descriptor found, Path shown) {
    this.calls = requireNonNull(calls, "calls");
    this.directory = requireNonNull(directory, "directory");
    this.name = requireNonNull(name, "name");
    this.found = found;
    this.shown = requireNonNull(shown, "shown");
  }

  /**
   * Returns a path of this process that leads to the name while this is open; a link of that name
   * is not followed.
   */
  Path path() {
    return directory.path().resolve(name.isEmpty() ? "." : name);
  }

  Descriptor directory() {
    return directory;
  }

  /**
   * Opens what has the name, by a descriptor of its own; of a symbolic link, the link.
   *
   * @throws java.nio.file.NoSuchFileException when nothing has the name
   */
  Descriptor object() throws IOException {
    if (found != null) {
      return calls.follow(found.path());
    }
    return name.isEmpty() ? calls.entry(directory, ".", shown) : calls.entry(directory, name, shown);
  }

  /** Removes what has the name, with everything in it; of a symbolic link, the link. */
  void removeTree(TreeRemover remover) throws IOException {
    remover.remove(directory, name, shown);
  }

  @Override
  public void close() throws ErrnoException {
    try (found) {
      directory.close();
    }
  }
}
