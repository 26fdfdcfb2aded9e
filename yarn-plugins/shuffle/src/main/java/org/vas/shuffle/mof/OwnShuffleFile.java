package org.vas.shuffle.mof;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.util.Progressable;
import org.vas.filesystem.LustreFileSystem;
import org.vas.filesystem.OwnFile;

/** Opens map output that the job's own user wrote, and nothing else that has its name. */
final class OwnShuffleFile {
  /** The file, its attempt's directory, and that of all attempts; above is the job's. */
  private static final int LEVELS = 3;

  private OwnShuffleFile() {}

  static FSDataInputStream open(FileSystem fs, Path path, int bufferBytes) throws IOException {
    if (fs instanceof LustreFileSystem) {
      return ((LustreFileSystem) fs).openOwn(path, LEVELS, bufferBytes);
    }
    check(fs, path);
    return fs.open(path, bufferBytes);
  }

  static FSDataOutputStream append(FileSystem fs, Path path, int bufferBytes, Progressable progress)
      throws IOException {
    if (fs instanceof LustreFileSystem) {
      return ((LustreFileSystem) fs).appendOwn(path, LEVELS, bufferBytes);
    }
    check(fs, path);
    return fs.append(path, bufferBytes, progress);
  }

  /**
   * Throws if a symbolic link has the name, on a file system that would make the file it leads to.
   */
  static void checkNew(FileSystem fs, Path path) throws IOException {
    if (fs instanceof RawLocalFileSystem
        && Files.isSymbolicLink(((RawLocalFileSystem) fs).pathToFile(path).toPath())) {
      throw new FileAlreadyExistsException(path + ": a symbolic link has this name");
    }
  }

  // RawLocalFileSystem opens by name: what is planted is refused, a race with the planter is not.
  // Other file systems have no links.
  private static void check(FileSystem fs, Path path) throws IOException {
    if (fs instanceof RawLocalFileSystem) {
      try (OwnFile own = OwnFile.below(((RawLocalFileSystem) fs).pathToFile(path).toPath(), LEVELS)) {
        own.path();
      } catch (NoSuchFileException absent) {
        return;  // as the file system says it itself
      }
    }
  }
}
