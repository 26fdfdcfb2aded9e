package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Maps {@code lustre:///a/b} to {@code MOUNT/a/b} and back. */
final class MountPaths {
  private final Path mount;

  MountPaths(Path mount) {
    this.mount = requireNonNull(mount, "mount");
  }

  /**
   * Returns the file below the mount; {@code ..} never leads out of it.
   * @throws IOException with the fix, for a name that this JVM cannot write as bytes
   */
  Path local(org.apache.hadoop.fs.Path absolute) throws IOException {
    String path = absolute.toUri().getPath();
    try {
      return mount.resolve(Path.of("/").relativize(Path.of("/", path).normalize())).normalize();
    } catch (InvalidPathException e) {
      throw new IOException(path + ": " + e.getReason()
          + "; run Java with LC_ALL=C.UTF-8 for names beyond ASCII", e);
    }
  }

  boolean isRoot(Path local) {
    return local.equals(mount);
  }

  /** Returns the directory {@code levels} names above a file, at most the mount. */
  Path above(Path local, int levels) {
    Path base = local;
    for (int level = 0; level < levels && !isRoot(base); level++) {
      base = base.getParent();
    }
    return base;
  }

  /** Returns the path within the file system of a file below the mount: {@code /a/b}. */
  String within(Path local) {
    return "/" + mount.relativize(local);
  }

  /**
   * Turns the text of a symbolic link into a path of this file system, or of {@code file:} where it
   * leads out of the mount.
   */
  org.apache.hadoop.fs.Path linkTarget(Path stored) {
    if (!stored.isAbsolute()) {
      return new org.apache.hadoop.fs.Path(null, null, stored.toString());
    }
    return stored.startsWith(mount)
        ? new org.apache.hadoop.fs.Path(within(stored))
        : new org.apache.hadoop.fs.Path("file", null, stored.toString());
  }

  /**
   * Returns the text to store in a symbolic link, so that the kernel follows it too.
   *
   * @throws IOException if the target is of another file system
   */
  Path storedTarget(org.apache.hadoop.fs.Path target, String scheme) throws IOException {
    String given = target.toUri().getScheme();
    if (given != null && !given.equals(scheme)) {
      throw new IOException(target + ": a symbolic link cannot lead to another file system");
    }
    return target.isAbsolute() ? local(target) : Path.of(target.toUri().getPath());
  }
}
