package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.AccessMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.fs.permission.FsAction;

/** Sets and checks permission bits of files, the sticky and setgid bits included. */
final class Modes {
  private static final int SETGID = 02000;

  private Modes() {}

  /**
   * Sets the permission bits of a file to exactly {@code mode}, setuid, setgid and sticky included.
   */
  static void set(Path file, int mode) throws IOException {
    Files.setAttribute(file, "unix:mode", mode);
  }

  /**
   * Sets the permission bits of a file as chmod does, which leaves a directory's setgid bit alone.
   */
  static void change(Path file, int mode) throws IOException {
    FileId found = FileId.of(file);
    set(file, mode | (found.isDirectory() ? found.modeBits() & SETGID : 0));
  }

  /**
   * Sets the permission bits of a new file to {@code mode} where the process' umask left others. A
   * setgid bit that a directory handed down stays: dropping it would break the sharing of the tree.
   */
  static void ensure(Path file, int mode) throws IOException {
    ensure(file, mode, FileId.of(file).modeBits());
  }

  /**
   * Sets the permission bits of a new file unless it has them already; does nothing if it has. A
   * setgid bit that a directory handed down stays.
   *
   * @param mode the bits that the file must have
   * @param now the bits that the file has now
   */
  static void ensure(Path file, int mode, int now) throws IOException {
    if ((now & ~SETGID) != mode) {
      set(file, mode | (now & SETGID));
    }
  }

  /**
   * Throws unless this process may do everything that the action names on the file. With {@code
   * NONE} the file only has to be there.
   *
   * @throws IOException of java.nio: {@code AccessDeniedException} or {@code NoSuchFileException}
   */
  static void check(Path file, FsAction action) throws IOException {
    Set<AccessMode> wanted = EnumSet.noneOf(AccessMode.class);
    if (action.implies(FsAction.READ)) {
      wanted.add(AccessMode.READ);
    }
    if (action.implies(FsAction.WRITE)) {
      wanted.add(AccessMode.WRITE);
    }
    if (action.implies(FsAction.EXECUTE)) {
      wanted.add(AccessMode.EXECUTE);
    }
    file.getFileSystem().provider().checkAccess(file, wanted.toArray(new AccessMode[0]));
  }
}
