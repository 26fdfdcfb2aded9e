package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.permission.FsPermission;

/** Makes, lists and removes directories, while others may do the same. */
final class Directories {
  /** A path of the kernel's 4,096 bytes has no more than twice as many. */
  private static final int DEEPEST = 1_000;

  private Directories() {}

  /**
   * Makes one directory; one that is there stays.
   *
   * @param mode the exact permission bits: no umask is applied to them
   * @param links tells which directories are this process' own
   * @throws FileAlreadyExistsException when something else has the name
   * @throws NoSuchFileException when the directory above is missing, or a link that leads nowhere
   *     has the name
   * @throws PlantedException when another has put something else in the new directory's place
   */
  static void makeOne(Path directory, int mode, LinkGuard links) throws IOException {
    try {
      Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(permissions(mode)));
      setMode(directory, mode, links);
    } catch (FileAlreadyExistsException e) {
      if (Files.isSymbolicLink(directory) && !Files.exists(directory)) {
        throw new NoSuchFileException(Descriptor.shown(directory).toString());
      }
      if (!Files.isDirectory(directory)) {
        throw e;
      }
    }
  }

  /**
   * Sets the permission bits of a directory that was just made to {@code mode}, by a handle:
   * whoever may write the directory above may have put a link in its place.
   *
   * @throws PlantedException when it is not a directory of this process' user any more
   */
  static void setMode(Path directory, int mode, LinkGuard links) throws IOException {
    try (Descriptor made = links.unfollowed(directory)) {
      FileId found = made.id();
      if (!found.isDirectory() || !links.mayBeOwn(found)) {
        throw new PlantedException(Descriptor.shown(directory), "was just made, and is "
            + found.kind() + " of the user with id " + found.owner() + " now");
      }
      Modes.ensure(made.path(), mode, found.modeBits());
    }
  }

  private static Set<PosixFilePermission> permissions(int mode) {
    return PosixFilePermissions.fromString(new FsPermission((short) (mode & 0777)).toString());
  }

  /** Returns the paths of a directory's entries, in the order of their names. */
  static List<Path> list(Path directory) throws IOException {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      stream.forEach(entries::add);
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    entries.sort(null);
    return entries;
  }

  /**
   * Removes one entry, or with {@code recursive} everything below it too; false when there is no
   * such entry.
   *
   * @throws DirectoryNotEmptyException when a directory has entries, without {@code recursive}
   */
  static boolean delete(GuardedEntry entry, boolean recursive) throws IOException {
    if (FileId.ifPresent(entry.path()).isEmpty()) {
      return false;
    }
    if (!recursive) {
      try {
        remove(entry.path());
        return true;
      } catch (NoSuchFileException removedMeanwhile) {
        return false;
      }
    }
    entry.removeTree(new TreeRemover(DEEPEST, false));
    return true;
  }

  /**
   * Removes a name; a directory must be empty. Asks the MDT alone: the JDK would first ask the OSTs
   * for the file's size.
   *
   * @throws NoSuchFileException when nothing has the name; what takes it afterwards is another
   *     writer's
   * @throws DirectoryNotEmptyException when a directory has entries
   */
  static void remove(Path file) throws IOException {
    remove(new Descriptors(), file);
  }

  static void remove(Descriptors calls, Path file) throws IOException {
    try {
      calls.remove(file, false);
    } catch (ErrnoException refused) {
      if (!refused.is(Errno.EISDIR) && !refused.is(Errno.EPERM)) {
        throw refused;
      }
      removeDirectory(calls, file, refused);
    }
  }

  // POSIX has EPERM for a directory, and for what may not be removed too.
  private static void removeDirectory(Descriptors calls, Path file, ErrnoException refused)
      throws IOException {
    try {
      calls.remove(file, true);
    } catch (ErrnoException e) {
      throw e.is(Errno.ENOTDIR) ? refused : e;
    }
  }
}
