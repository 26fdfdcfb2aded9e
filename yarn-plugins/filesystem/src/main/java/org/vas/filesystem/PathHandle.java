package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * One file or directory, held by an O_PATH descriptor: whatever is renamed or planted meanwhile,
 * {@link #path} leads to this one. It opens nothing, so that neither a FIFO nor a device blocks.
 */
final class PathHandle implements Closeable {
  /** Where this process finds its own descriptors as paths. */
  static final Path DESCRIPTORS = Path.of("/proc/self/fd");

  private final Descriptors calls;
  private final int descriptor;

  PathHandle(Descriptors calls, int descriptor) {
    this.calls = requireNonNull(calls, "calls");
    this.descriptor = descriptor;
  }

  /** The path by which people know a file, where the given one goes by a handle. */
  static Path shown(Path file) {
    if (!file.startsWith(DESCRIPTORS) || file.getNameCount() == DESCRIPTORS.getNameCount()) {
      return file;
    }
    Path handle = file.getRoot().resolve(file.subpath(0, DESCRIPTORS.getNameCount() + 1));
    try {
      return Files.readSymbolicLink(handle).resolve(handle.relativize(file)).normalize();
    } catch (IOException closed) {
      return file;
    }
  }

  /** Whether a path goes by a handle: it means nothing to people once that is closed. */
  static boolean isHandle(String file) {
    return file.startsWith(DESCRIPTORS + "/");
  }

  int descriptor() {
    return descriptor;
  }

  /** A path of this process that leads to it while it is open. */
  Path path() {
    return DESCRIPTORS.resolve(Integer.toString(descriptor));
  }

  FileId identity() throws IOException {
    return FileId.of(path());
  }

  @Override
  public void close() {
    calls.close(descriptor);
  }
}
