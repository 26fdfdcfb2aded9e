package org.vas.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renames files and directories as Hadoop's two interfaces define it: {@code FileSystem.rename}
 * answers false when something is in the way, and {@code FileContext.rename} throws. Other
 * processes see the old name, the new one, or for a moment both ({@link NoReplace}), never none.
 */
final class Renamer {
  private static final Logger LOG = LoggerFactory.getLogger(Renamer.class);
  /**
   * The errors to which {@code FileSystem.rename} answers false: a name that is missing, taken, or
   * not a directory.
   */
  private static final Set<Errno> REFUSED =
      EnumSet.of(Errno.ENOENT, Errno.EEXIST, Errno.ENOTDIR, Errno.ENOTEMPTY, Errno.EISDIR);

  private final NoReplace names;

  Renamer(ClientCalls calls) {
    this.names = new NoReplace(calls);
  }

  /**
   * Renames a file or directory as HDFS does: moves it into the destination when that is a
   * directory, else gives it the destination's name, and never replaces anything.
   *
   * @return true if it was renamed, or if both paths are the same and exist; false, with nothing
   *     changed, when the source or the destination's parent is not there, the new name is taken,
   *     or the new name lies below the source
   * @throws IOException for any other error, such as a missing permission
   */
  boolean rename(Path source, Path destination) throws IOException {
    Path target = isDirectory(destination)
        ? destination.resolve(String.valueOf(source.getFileName())) : destination;
    if (target.equals(source)) {
      return FileId.ifPresent(source).isPresent();
    }
    if (target.startsWith(source)) {
      LOG.debug("{}: not renamed below itself, to {}",
          Descriptor.shown(source), Descriptor.shown(target));
      return false;
    }
    try {
      names.rename(source, target);
      return true;
    } catch (ErrnoException e) {
      if (e.errno().filter(REFUSED::contains).isPresent()) {
        LOG.debug("rename refused", e);
        return false;
      }
      throw e;
    }
  }

  /**
   * Renames a file or directory to exactly the destination's name, as {@code FileContext.rename}
   * does, and throws an exception that names what is in the way.
   *
   * @param overwrite whether to replace a file by a file, or an empty directory by a directory
   * @throws FileAlreadyExistsException if both paths are the same, if the source is a symbolic link
   *     to the destination, or if the destination exists and {@code overwrite} is false
   * @throws FileNotFoundException if the destination's parent is not there
   * @throws ParentNotDirectoryException if the destination's parent is not a directory
   * @throws IOException for any other error, also if only one of the two is a directory
   */
  void renameOrThrow(Path source, Path destination, boolean overwrite) throws IOException {
    FileId from = FileId.ofLink(source);
    if (source.equals(destination)) {
      throw new FileAlreadyExistsException(
          Descriptor.shown(source) + ": source and destination of a rename are the same");
    }
    if (from.isSymlink() && Files.exists(destination) && Files.isSameFile(source, destination)) {
      throw new FileAlreadyExistsException(
          Descriptor.shown(destination) + ": not replaced by "
              + Descriptor.shown(source) + ", a symbolic link to it");
    }
    // rename(2) between two names of one file does nothing, and says that it did.
    if (NoReplace.finish(source, destination)) {
      return;
    }
    Optional<FileId> replaced = FileId.ifPresent(destination);
    if (replaced.isPresent()) {
      checkReplaceable(from, replaced.get(), destination, overwrite);
    } else {
      checkParent(destination);
    }
    if (overwrite) {
      move(source, destination);
    } else {
      names.rename(source, destination);
    }
  }

  private static void checkReplaceable(FileId from, FileId replaced, Path destination,
      boolean overwrite) throws IOException {
    if (replaced.isDirectory() != from.isDirectory()) {
      throw new IOException(Descriptor.shown(destination)
          + ": cannot be replaced: source and destination must both be files or directories");
    }
    if (!overwrite) {
      throw new FileAlreadyExistsException(
          Descriptor.shown(destination) + ": already exists; rename with OVERWRITE");
    }
  }

  private static void checkParent(Path destination) throws IOException {
    Path parent = destination.getParent();
    if (parent == null || !Files.exists(parent)) {
      throw new FileNotFoundException(
          (parent == null ? destination : Descriptor.shown(parent))
              + ": does not exist; make it before the rename");
    }
    if (!Files.isDirectory(parent)) {
      throw new ParentNotDirectoryException(Descriptor.shown(parent) + ": is not a directory");
    }
  }

  // Files.isDirectory would ask for a size, which the OSTs answer.
  private static boolean isDirectory(Path file) throws IOException {
    try {
      return FileId.of(file).isDirectory();
    } catch (ErrnoException | FileSystemException absent) {
      return false;
    }
  }

  private static void move(Path source, Path target) throws IOException {
    try {
      Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      throw new IOException(Descriptor.shown(target) + ": rename from "
          + Descriptor.shown(source) + ": " + Errno.EXDEV.explained(), e);
    }
  }
}
