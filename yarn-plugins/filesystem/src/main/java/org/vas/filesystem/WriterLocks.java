package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps writers of one file apart, by flock(2) on the file itself. An append holds it alone; who
 * writes a new file, or replaces one, shares it with others that do so, and so keeps appends away.
 * Replacing a file is never refused, and told to the writer that lost it ({@link
 * OpenFile#checkKept}): flock(2) asks for no right to write, so that a lock may be a mere reader's,
 * who could keep the owner from replacing it for ever.
 */
final class WriterLocks {
  private static final Logger LOG = LoggerFactory.getLogger(WriterLocks.class);
  private static final int LOOKS = 10;
  private static final Set<Errno> NO_LOCKS =
      EnumSet.of(Errno.ENOSYS, Errno.ENOLCK, Errno.EOPNOTSUPP);
  private static final Set<Errno> NOT_OPENED =
      EnumSet.of(Errno.EACCES, Errno.EPERM, Errno.EROFS, Errno.ELOOP);

  private final boolean oneWriter;
  private final IoErrors.Call<LockScope> scope;

  /**
   * @param oneWriter whether the site makes sure that a file has one writer
   * @param scope how far locks hold here, asked for at each append
   */
  WriterLocks(boolean oneWriter, IoErrors.Call<LockScope> scope) {
    this.oneWriter = oneWriter;
    this.scope = requireNonNull(scope, "scope");
  }

  /**
   * Opens a file to append to it, and locks it until it is closed.
   *
   * @param file leads to it, perhaps by a handle
   * @param named the name that must still lead to it once it is locked
   * @throws IOException if another writer has it, or if locks do not hold here
   */
  OpenFile append(Path file, Path named) throws IOException {
    if (!oneWriter) {
      checkScope(named);
    }
    return OpenFile.holding(alone(file, named));
  }

  /** As {@link #append}, for a single change; where locks cannot be had it is not locked. */
  OpenFile change(Path file, Path named) throws IOException {
    return OpenFile.holding(alone(file, named));
  }

  /**
   * Locks a file that is about to be replaced, so that no append begins meanwhile.
   *
   * @return the lock; empty when the file is gone, is not a regular file, may not be opened, or
   *     another holds its lock: a writer of it is then told when it closes it
   */
  Optional<Descriptor> replacing(Path file) throws IOException {
    if (FileId.ifPresent(file).filter(FileId::isRegularFile).isEmpty()) {
      return Optional.empty();
    }
    for (int access : new int[] {Descriptor.READ, Descriptor.WRITE}) {
      try {
        return shared(file, access | Descriptors.O_NOFOLLOW);
      } catch (ErrnoException e) {
        if (e.is(Errno.ENOENT)) {
          return Optional.empty();
        }
        if (e.errno().filter(NOT_OPENED::contains).isEmpty()) {
          throw e;
        }
      }
    }
    return Optional.empty();
  }

  /** Shares a new file's lock with others that write it anew. */
  void share(Path file, Descriptor open) throws IOException {
    if (!isLocked(open, false)) {
      throw busy(file);
    }
  }

  private static Descriptor alone(Path file, Path named) throws IOException {
    Optional<Descriptor> locked = current(file, named, Descriptor.WRITE, true);
    if (locked.isEmpty()) {
      throw busy(named);
    }
    return locked.get();
  }

  private static Optional<Descriptor> shared(Path file, int flags) throws IOException {
    Optional<Descriptor> locked = current(file, file, flags, false);
    if (locked.isEmpty()) {
      LOG.warn("{}: replaced while another, writer or reader, holds its lock; a writer of the old"
          + " file is told when it closes it", Descriptor.shown(file));
    }
    return locked;
  }

  // The name may lead to another file by the time that there is a lock: that one has to be locked.
  private static Optional<Descriptor> current(Path file, Path named, int flags, boolean alone)
      throws IOException {
    for (int look = 0; look < LOOKS; look++) {
      Descriptor open = Descriptor.open(file, flags);
      try {
        if (!isLocked(open, alone)) {
          open.close();
          return Optional.empty();
        }
        if (FileId.of(named).isSame(open.id())) {
          return Optional.of(open);
        }
      } catch (IOException e) {
        open.close();
        throw e;
      }
      open.close();
    }
    throw new IOException(Descriptor.shown(named) + ": replaced by others each of " + LOOKS
        + " times that it was opened for writing; let one writer have it");
  }

  // True too where the mount has no locks.
  private static boolean isLocked(Descriptor open, boolean alone) throws IOException {
    try {
      return open.lock(alone);
    } catch (ErrnoException e) {
      if (e.errno().filter(NO_LOCKS::contains).isEmpty()) {
        throw e;
      }
      return true;
    }
  }

  private static IOException busy(Path file) {
    return new IOException(Descriptor.shown(file) + ": is being written: another holds its lock (a"
        + " reader that locks it by flock counts too); wait until it has closed the file, or write"
        + " to another name");
  }

  private void checkScope(Path file) throws IOException {
    LockScope holds = scope.run();
    if (holds != LockScope.CLUSTER) {
      throw new IOException(Descriptor.shown(file) + ": cannot be appended to: Lustre is mounted with "
          + (holds == LockScope.MACHINE ? "localflock" : "noflock") + ", so that two writers of"
          + " one file would not see one another; mount it with flock, or set "
          + LustreConf.ONE_WRITER.name() + "=true where no file ever has two");
    }
  }
}
