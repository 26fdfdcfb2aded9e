package org.vas.filesystem;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * The path of a file whose name holds a colon, in what {@code FileContext} lists. Hadoop's matcher of patterns makes a
 * path of the name alone, takes what stands before the colon for a scheme, and fails with words that name no directory:
 * {@code FileContext} leaves no other place to say it in ours.
 */
final class ColonPath extends Path {
  private static final long serialVersionUID = 1L;
  private static final String MATCHER = "org.apache.hadoop.fs.Globber";

  private ColonPath(Path path) {
    super(path.toUri());
  }

  /** Replaces the path of a listed file whose name holds a colon. */
  static FileStatus in(FileStatus listed) {
    if (listed.getPath().getName().indexOf(':') >= 0) {
      listed.setPath(new ColonPath(listed.getPath()));
    }
    return listed;
  }

  /**
   * Returns the last name of the path.
   *
   * @throws IllegalArgumentException to Hadoop's matcher of patterns, as the matcher itself would: names directory and fix
   */
  @Override
  public String getName() {
    String name = super.getName();
    if (StackWalker.getInstance().walk(frames ->
        frames.skip(1).findFirst().filter(caller -> caller.getClassName().equals(MATCHER)).isPresent())) {
      throw new IllegalArgumentException(problem(getParent(), name, "*"));
    }
    return name;
  }

  /** Returns the message about a name that no pattern is compared with. */
  static String problem(Path directory, String name, String pattern) {
    return directory + ": the name '" + name + "' in it holds a colon, with which Hadoop matches no pattern ("
        + pattern + "); rename it, or name the directory itself instead of a pattern";
  }
}
