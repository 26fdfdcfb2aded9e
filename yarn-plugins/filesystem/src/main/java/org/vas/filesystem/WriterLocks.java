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
 * Keeps the writers of one file apart, by flock(2) locks on the file itself. An append takes an
 * exclusive lock. A writer that makes a file, or replaces one, takes a shared lock, which other
 * such writers may have at the same time and which keeps appends away. Replacing a file is never
 * refused; the writer that lost its file is told ({@link OpenFile#checkKept}). The reason is that
 * flock(2) asks for no right to write: the lock may be a mere reader's, who could keep the owner
 * from replacing the file for ever.
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
   * Makes the locks for the files of one mount.
   *
   * @param oneWriter whether the site makes sure that a file has one writer
   * @param scope tells how far locks hold on the mount; called at each append
   */
  WriterLocks(boolean oneWriter, IoErrors.Call<LockScope> scope) {
    this.oneWriter = oneWriter;
    this.scope = requireNonNull(scope, "scope");
  }

  /**
   * Opens a file to append to it, and locks it until it is closed.
   *
   * @param file leads to the file, perhaps by a handle
   * @param named the name that must still lead to the file once it is locked
   * @throws IOException if somebody else holds a lock on the file, or if locks of this mount do not
   *     hold against every client and the site does not vouch for one writer
   */
  OpenFile append(Path file, Path named) throws IOException {
    if (!oneWriter) {
      checkScope(named);
    }
    return OpenFile.holding(alone(file, named));
  }

  /**
   * Opens a file for a single change, such as a truncate, and locks it until it is closed. Where
   * the mount has no locks, or locks that hold on this machine only, the file is changed all the
   * same.
   *
   * @param file leads to the file, perhaps by a handle
   * @param named the name that must still lead to the file once it is locked
   * @throws IOException if somebody else holds a lock on the file
   */
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

  /**
   * Takes a shared lock on a new file, which keeps appends away and which other writers that make
   * or replace the same file may have too.
   *
   * @param file the new file's name, for messages
   * @param open the new file; the lock ends when it is closed
   * @throws IOException if somebody else holds the file's lock alone
   */
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
