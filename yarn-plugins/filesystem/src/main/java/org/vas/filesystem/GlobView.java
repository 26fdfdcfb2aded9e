package org.vas.filesystem;

import java.io.IOException;
import java.net.URISyntaxException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;

/**
 * A file system that lists files for one pattern of {@code FileSystem.globStatus}; for those of
 * {@code FileContext} see {@link ColonPath}. Hadoop makes a path of each name that it compares with
 * the pattern, takes what stands before a colon for a scheme, and fails without naming the
 * directory. This class remembers which directory was listed last, and names it in the error.
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
   * Returns the files that match a pattern, as {@code FileSystem.globStatus} does: null when a
   * pattern without wildcards names a file that is not there.
   *
   * @throws IOException also if a name with a colon is in the way; it names the directory and the
   *     fix
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
