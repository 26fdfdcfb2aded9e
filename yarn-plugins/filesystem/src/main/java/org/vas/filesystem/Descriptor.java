package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * An open file by its descriptor: it stays one inode, whatever becomes of the name that it was
 * opened by. Its bytes are read and written by opening {@link #path} again.
 */
final class Descriptor implements Closeable {
  static final int READ = 0;
  static final int WRITE = 1;
  // A FIFO that took the name must not wait for its other end. Regular files do not care.
  private static final int NON_BLOCK = 04000;
  private static final int SHARED_NOW = 1 | 4;
  private static final int EXCLUSIVE_NOW = 2 | 4;

  private final Path file;
  private final int number;
  private boolean closed;

  private Descriptor(Path file, int number) {
    this.file = requireNonNull(file, "file");
    this.number = number;
  }

  /** Opens an existing file; the flags are open(2)'s, of which this class names some. */
  static Descriptor open(Path file, int flags) throws ErrnoException {
    return new Descriptor(PathHandle.shown(file), Posix.open(file, flags | NON_BLOCK));
  }

  /** A name that leads to this very file, for as long as this is open. */
  Path path() {
    return Path.of("/proc/self/fd/" + number);
  }

  /** Which file it is. */
  FileId id() throws IOException {
    return FileId.of(path());
  }

  /**
   * Takes a lock of flock(2), which belongs to this descriptor and ends with it, also when the
   * process or its machine dies. The locks of fcntl(2) would end with any close of the file in this
   * process.
   *
   * @return false if another descriptor holds a lock against it, in whatever process
   * @throws ErrnoException {@code ENOSYS} where the mount has no locks
   */
  boolean lock(boolean exclusive) throws ErrnoException {
    try {
      Posix.flock(file, number, exclusive ? EXCLUSIVE_NOW : SHARED_NOW);
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
      Posix.close(file, number);
    }
  }
}
