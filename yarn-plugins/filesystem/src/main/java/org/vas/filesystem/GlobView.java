package org.vas.filesystem;

import java.io.IOException;
import java.net.URISyntaxException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;

/**
 * A file system for one pattern of {@code FileSystem.globStatus}; {@code FileContext}'s is told by {@link ColonPath}. Hadoop makes a path of each name that it compares with the pattern
 * and takes what stands before a colon for a scheme; this remembers in which directory.
 */
final class GlobView extends FilterFileSystem {
  private Path listed;

  GlobView(FileSystem fs) {
    super(fs);
  }

  @Override
  public FileStatus[] listStatus(Path directory) throws IOException {
    listed = directory;
    return fs.listStatus(directory);
  }

  /**
   * As {@code FileSystem.globStatus}.
   *
   * @throws IOException also where a name with a colon is in the way: it names directory and fix
   */
  FileStatus[] find(Path pattern, PathFilter filter) throws IOException {
    try {
      return super.globStatus(pattern, filter);
    } catch (IllegalArgumentException e) {
      if (listed == null || !(e.getCause() instanceof URISyntaxException)) {
        throw e;
      }
      String name = ((URISyntaxException) e.getCause()).getInput();
      throw new IOException(ColonPath.problem(listed, name, pattern.toString()), e);
    }
  }
}
