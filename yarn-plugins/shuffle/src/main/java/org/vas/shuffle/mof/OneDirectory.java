package org.vas.shuffle.mof;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.fs.permission.FsPermission;
import org.vas.filesystem.LustreFileSystem;

/**
 * Makes one level of directories. {@code FileSystem.mkdirs} makes those above too, and to look for
 * them before is no help: a job's directory may be removed in between, and must stay removed.
 */
final class OneDirectory {
  private static final FsPermission PRIVATE = new FsPermission((short) 0700);

  private OneDirectory() {}

  static void make(FileSystem fs, Path path) throws IOException {
    if (fs instanceof LustreFileSystem) {
      ((LustreFileSystem) fs).mkdirOwn(path, PRIVATE);
    } else if (fs instanceof RawLocalFileSystem) {
      makeLocal(((RawLocalFileSystem) fs).pathToFile(path).toPath());
    } else {
      makeElsewhere(fs, path);
    }
  }

  // Hadoop's local file system looks for a link at the path with its scheme, and finds none.
  static boolean is(FileSystem fs, Path path) throws IOException {
    try {
      if (fs instanceof RawLocalFileSystem) {
        return fs.getFileStatus(path).isDirectory() && Files.isDirectory(
            ((RawLocalFileSystem) fs).pathToFile(path).toPath(), LinkOption.NOFOLLOW_LINKS);
      }
      return fs.getFileLinkStatus(path).isDirectory();
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  private static void makeLocal(java.nio.file.Path directory) throws IOException {
    try {
      Files.createDirectory(directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (NoSuchFileException e) {
      throw (IOException) new FileNotFoundException(
          directory + ": the directory above it does not exist").initCause(e);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
    }
  }

  // The only call of Hadoop's that says so; whether it is one step is up to the file system.
  private static void makeElsewhere(FileSystem fs, Path path) throws IOException {
    try {
      FileContext.getFileContext(fs.getUri(), fs.getConf()).mkdir(path, PRIVATE, false);
    } catch (org.apache.hadoop.fs.FileAlreadyExistsException e) {
      if (!fs.getFileStatus(path).isDirectory()) {
        throw e;
      }
    } catch (UnsupportedFileSystemException e) {
      throw new IOException(path + ": no way to make one directory only; set fs.AbstractFileSystem."
          + fs.getScheme() + ".impl", e);
    }
  }
}
