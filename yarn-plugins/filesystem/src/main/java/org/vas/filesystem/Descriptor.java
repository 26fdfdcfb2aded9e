package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file or directory held by a descriptor: {@link #path} leads to it, whatever takes its name
 * meanwhile. To read or write its bytes, that path is opened again. {@link Descriptors} makes
 * descriptors by O_PATH, which opens nothing, so that neither a FIFO nor a device blocks.
 */
final class Descriptor implements Closeable {
  /** The directory in which this process finds its own descriptors as paths. */
  static final Path ALL = Path.of("/proc/self/fd");
  static final int READ = 0;
  static final int WRITE = 1;
  // A FIFO that took the name must not wait for its other end. Regular files do not care.
  private static final int NON_BLOCK = 04000;
  private static final int SHARED_NOW = 1 | 4;
  private static final int EXCLUSIVE_NOW = 2 | 4;

  private final Path file;
  private final int number;
  private boolean closed;

  /**
   * Takes over an open descriptor; {@link #close} closes it.
   *
   * @param file the file's name in errors
   */
  Descriptor(Path file, int number) {
    this.file = requireNonNull(file, "file");
    this.number = number;
  }

  /**
   * Opens an existing file.
   *
   * @param flags those of open(2), such as {@link #READ}
   */
  static Descriptor open(Path file, int flags) throws ErrnoException {
    return new Descriptor(shown(file), Libc.open(file, flags | NON_BLOCK));
  }

  /**
   * Returns the path by which people know a file: of one that goes through a descriptor, what the
   * descriptor leads to; of any other, the path itself.
   */
  static Path shown(Path file) {
    if (!file.startsWith(ALL) || file.getNameCount() == ALL.getNameCount()) {
      return file;
    }
    Path descriptor = file.getRoot().resolve(file.subpath(0, ALL.getNameCount() + 1));
    try {
      return Files.readSymbolicLink(descriptor).resolve(descriptor.relativize(file)).normalize();
    } catch (IOException closed) {
      return file;
    }
  }

  /**
   * Returns whether a path goes through a descriptor of this process; such a path means nothing to
   * people once the descriptor is closed.
   */
  static boolean isPathOfOne(String file) {
    return file.startsWith(ALL + "/");
  }

  int number() {
    return number;
  }

  /** Returns a path of this process that leads to this very file, for as long as this is open. */
  Path path() {
    return ALL.resolve(Integer.toString(number));
  }

  /** Returns the file's identity with its present owner, mode and number of names. */
  FileId id() throws IOException {
    return FileId.of(path());
  }

  /**
   * Takes a lock of flock(2), which belongs to this descriptor and ends with it, also when the
   * process or its machine dies. The locks of fcntl(2) would end with any close of the file in this
   * process.
   *
   * @param exclusive whether no other descriptor may hold a lock; else none may hold an exclusive
   *     one
   * @return false if another descriptor holds a lock against it, in whatever process
   * @throws ErrnoException {@code ENOSYS} where the mount has no locks
   */
  boolean lock(boolean exclusive) throws ErrnoException {
    try {
      Libc.flock(file, number, exclusive ? EXCLUSIVE_NOW : SHARED_NOW);
      return true;
    } catch (ErrnoException e) {
      if (e.is(Errno.EAGAIN)) {
        return false;
      }
      throw e;
    }
  }

  @Override
  public synchronized void close() throws ErrnoException {
    if (!closed) {
      closed = true;
      Libc.close(file, number);
    }
  }
}
