package org.vas.filesystem;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * The path of a listed file whose name holds a colon, for {@code FileContext}. Hadoop's matcher of
 * patterns makes a path of the name alone, takes the part before the colon for a scheme, and fails
 * with a message that names no directory. It asks this path for its name first, which is the only
 * place in {@code FileContext} where a better message can be given.
 */
final class ColonPath extends Path {
  private static final long serialVersionUID = 1L;
  private static final String MATCHER = "org.apache.hadoop.fs.Globber";

  private ColonPath(Path path) {
    super(path.toUri());
  }

  /** Replaces the path of a listed file whose name holds a colon; returns the same status. */
  static FileStatus in(FileStatus listed) {
    if (listed.getPath().getName().indexOf(':') >= 0) {
      listed.setPath(new ColonPath(listed.getPath()));
    }
    return listed;
  }

  /**
   * Returns the last name of the path.
   *
   * @throws IllegalArgumentException if Hadoop's matcher of patterns asks; the message names
   *     directory and fix
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

  /** Returns the message about a name with a colon, which Hadoop compares with no pattern. */
  static String problem(Path directory, String name, String pattern) {
    return directory + ": the name '" + name + "' in it holds a colon, with which Hadoop matches no pattern ("
        + pattern + "); rename it, or name the directory itself instead of a pattern";
  }
}
