package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Keeps writers of one file apart, by flock(2) on the file itself. An append holds it alone; who
 * writes a new file, or replaces one, shares it with others that do so, and so keeps appends away:
 * as in HDFS a file is appended to by one writer that nobody else is, and replacing a file that is
 * being written anew is allowed, and told to the writer that lost it ({@link OpenFile#checkKept}).
 */
final class WriterLocks {
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
    return OpenFile.holding(current(file, named, Descriptor.WRITE, true));
  }

  /** As {@link #append}, for a single change; where locks cannot be had it is not locked. */
  OpenFile change(Path file, Path named) throws IOException {
    return OpenFile.holding(current(file, named, Descriptor.WRITE, true));
  }

  /**
   * Locks a file that is about to be replaced.
   *
   * @return the lock; empty when the file is gone, is no regular file, or may not be opened: its
   *     writer is then told when it closes it
   * @throws IOException if it is being appended to
   */
  Optional<Descriptor> replacing(Path file) throws IOException {
    if (FileId.ifPresent(file).filter(FileId::isRegularFile).isEmpty()) {
      return Optional.empty();
    }
    for (int access : new int[] {Descriptor.READ, Descriptor.WRITE}) {
      try {
        return Optional.of(current(file, file, access | Descriptors.O_NOFOLLOW, false));
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
    take(file, open, false);
  }

  // The name may lead to another file by the time that there is a lock: that one has to be locked.
  private static Descriptor current(Path file, Path named, int flags, boolean alone)
      throws IOException {
    for (int look = 0; look < LOOKS; look++) {
      Descriptor open = Descriptor.open(file, flags);
      try {
        take(named, open, alone);
        if (FileId.of(named).isSame(open.id())) {
          return open;
        }
      } catch (IOException e) {
        open.close();
        throw e;
      }
      open.close();
    }
    throw new IOException(PathHandle.shown(named) + ": replaced by others each of " + LOOKS
        + " times that it was opened for writing; let one writer have it");
  }

  private static void take(Path file, Descriptor open, boolean alone) throws IOException {
    try {
      if (!open.lock(alone)) {
        throw new IOException(PathHandle.shown(file) + ": is being written: another writer holds its lock;"
            + " wait until it has closed the file, or write to another name");
      }
    } catch (ErrnoException e) {
      if (e.errno().filter(NO_LOCKS::contains).isEmpty()) {
        throw e;
      }
    }
  }

  private void checkScope(Path file) throws IOException {
    LockScope holds = scope.run();
    if (holds != LockScope.CLUSTER) {
      throw new IOException(file + ": cannot be appended to: Lustre is mounted with "
          + (holds == LockScope.MACHINE ? "localflock" : "noflock") + ", so that two writers of"
          + " one file would not see one another; mount it with flock, or set "
          + LustreConf.ONE_WRITER.name() + "=true where no file ever has two");
    }
  }
}
