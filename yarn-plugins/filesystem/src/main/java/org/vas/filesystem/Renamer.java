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
 * Renames as Hadoop's two interfaces ask for it. Others see the old name, the new one, or for a
 * moment both ({@link NoReplace}), never none.
 */
final class Renamer {
  private static final Logger LOG = LoggerFactory.getLogger(Renamer.class);
  /** Not there, in the way, or no directory: what {@code FileSystem.rename} answers false to. */
  private static final Set<Errno> REFUSED =
      EnumSet.of(Errno.ENOENT, Errno.EEXIST, Errno.ENOTDIR, Errno.ENOTEMPTY, Errno.EISDIR);

  private final NoReplace names;

  Renamer(ClientCalls calls) {
    this.names = new NoReplace(calls);
  }

  /**
   * Renames as HDFS does: into the destination when that is a directory, and never over anything.
   *
   * @return false, with nothing changed, when source, destination or its parent do not allow it
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
   * As {@code FileContext} does: an exception says what is in the way.
   *
   * @param overwrite whether to replace a file by a file, or an empty directory by a directory
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
