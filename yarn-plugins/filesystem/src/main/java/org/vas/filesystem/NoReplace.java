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
 * Renames a file or a directory to a name that nothing has yet. When many callers rename files to
 * the same name, exactly one of them succeeds, and the others get {@code EEXIST}.
 *
 * <p>Lustre refuses every flag of renameat2 (EINVAL, llite/namei.c, 2.12 to 2.17). On Lustre this
 * class gives a file its new name by link(2), which fails with EEXIST if the name is taken and is
 * one transaction of the MDT, and then removes the old name. A process that dies between the two
 * calls leaves one file with two names; a later rename that finds both names to be one file removes
 * the old name.
 *
 * <p>Directories have no hard links. rename(2) gives a directory a new name if nothing or an empty
 * directory has that name: when many callers rename directories with entries, exactly one succeeds,
 * the others get ENOTEMPTY, and nothing but an empty directory can be replaced. To claim the name
 * by mkdir(2) first would be worse: another process that sees the new directory renames
 * <em>into</em> it.
 */
final class NoReplace {
  private static final Logger LOG = LoggerFactory.getLogger(NoReplace.class);
  private static final Set<Errno> NO_FLAG =
      EnumSet.of(Errno.EINVAL, Errno.ENOSYS, Errno.EOPNOTSUPP);
  /**
   * Errors of link(2) though the name is free: fs.protected_hardlinks, too many links, another
   * project or MDT, a mount without links.
   */
  private static final Set<Errno> NO_LINK =
      EnumSet.of(Errno.EPERM, Errno.EMLINK, Errno.EXDEV, Errno.EOPNOTSUPP, Errno.ENOSYS);

  private final ClientCalls calls;

  NoReplace(ClientCalls calls) {
    this.calls = requireNonNull(calls, "calls");
  }

  /**
   * Renames a file, a directory or a symbolic link itself.
   *
   * @throws ErrnoException if the target's name is taken ({@code EEXIST}, or {@code ENOTEMPTY} for
   *     a directory), if the source is gone or another caller has just renamed it ({@code ENOENT}),
   *     or if the file system refuses; nothing is replaced then
   */
  void rename(Path source, Path target) throws IOException {
    try {
      calls.renameNoReplace(source, target);
    } catch (ErrnoException e) {
      if (isOneOf(NO_FLAG, e)) {
        withoutFlag(source, target);
      } else if (!e.is(Errno.EEXIST) || !finish(source, target)) {
        throw e;
      }
    }
  }

  /**
   * Finishes a rename whose process died after it had given a file its new name, and before it
   * removed the old one: removes the source's name.
   *
   * @return true if this call removed it; false, with nothing changed, when the two are not
   *     separate names of one regular file, or when another process was faster
   */
  static boolean finish(Path source, Path target) throws IOException {
    Optional<FileId> from = FileId.ifPresent(source);
    Optional<FileId> to = FileId.ifPresent(target);
    if (from.isEmpty() || to.isEmpty() || !from.get().isRegularFile()
        || !from.get().isSame(to.get()) || from.get().links() < 2 || isOneEntry(source, target)) {
      return false;
    }
    LOG.warn("{}: an earlier rename from {} did not end; it does now",
        Descriptor.shown(target), Descriptor.shown(source));
    return isUnlinked(source);
  }

  private void withoutFlag(Path source, Path target) throws IOException {
    FileId from = FileId.ofLink(source);
    if (from.isDirectory()) {
      Libc.renameDirectory(source, target);
      return;
    }
    try {
      calls.link(source, target);
    } catch (ErrnoException e) {
      if (isOneOf(NO_LINK, e)) {
        NameClaim.rename(source, target);
        return;
      }
      if (e.is(Errno.EEXIST) && finish(source, target)) {
        return;
      }
      warnOfClaim(target);
      throw e;
    }
    try {
      removeSource(from, source, target);
    } catch (ErrnoException e) {
      if (!e.is(Errno.ENOENT)) {
        takeBack(from, source, target);
      }
      throw e;
    }
  }

  // The source may not be removed: it keeps its name, and the one that was just given goes again.
  private static void takeBack(FileId from, Path source, Path target) throws IOException {
    boolean bothAreOurs = FileId.ifPresent(source).filter(from::isSame).isPresent()
        && FileId.ifPresent(target).filter(from::isSame).isPresent();
    if (bothAreOurs && !isOneEntry(source, target)) {
      Libc.unlink(target);
    }
  }

  // Whoever removes the source has won: of several that rename one file, the others find it gone.
  private static void removeSource(FileId from, Path source, Path target) throws IOException {
    Optional<FileId> now = FileId.ifPresent(source);
    if (now.isPresent() && !isOurs(now.get(), from, target)) {
      return;  // Another file has the name already: the one that we renamed has lost it.
    }
    if (now.isEmpty() || !isUnlinked(source)) {
      LOG.warn("{}: gone while it was renamed; the file may have the name {} too",
          Descriptor.shown(source), Descriptor.shown(target));
      throw new ErrnoException(source, "rename to " + Descriptor.shown(target), Errno.ENOENT);
    }
  }

  private static boolean isOurs(FileId now, FileId from, Path target) throws IOException {
    return now.isSame(from) || FileId.ifPresent(target).filter(now::isSame).isPresent();
  }

  private static boolean isUnlinked(Path file) throws ErrnoException {
    try {
      Libc.unlink(file);
      return true;
    } catch (ErrnoException e) {
      if (e.is(Errno.ENOENT)) {
        return false;
      }
      throw e;
    }
  }

  // One name of a directory that has two, by a symbolic link above it: to remove it loses the file.
  private static boolean isOneEntry(Path source, Path target) throws IOException {
    return requireNonNull(source.getFileName()).equals(target.getFileName())
        && FileId.of(requireNonNull(source.getParent()))
            .isSame(FileId.of(requireNonNull(target.getParent())));
  }

  private static void warnOfClaim(Path target) throws IOException {
    if (NameClaim.isOne(target)) {
      LOG.warn("{}: taken by a rename that runs, or that died: if it stays, remove it",
          Descriptor.shown(target));
    }
  }

  private static boolean isOneOf(Set<Errno> errors, ErrnoException error) {
    return error.errno().filter(errors::contains).isPresent();
  }
}
