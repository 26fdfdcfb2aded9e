package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import com.sun.jna.LastErrorException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Makes {@link Descriptor}s that open nothing (O_PATH), and follows no link unless a method says
 * so. {@code ENOENT} is thrown as {@code NoSuchFileException} and {@code EACCES} as {@code
 * AccessDeniedException}; other errors, unless a method says otherwise, as {@link ErrnoException}.
 */
final class Descriptors {
  private static final int O_PATH = 010000000;
  /** The value of {@code O_NOFOLLOW} for the architecture of this machine. */
  static final int O_NOFOLLOW = noFollow(System.getProperty("os.arch"));
  private static final long OPENAT2 = 437;  // the same number on every architecture
  private static final long NO_MAGICLINKS = 0x02;
  private static final long NO_SYMLINKS = 0x04;
  private static final long BENEATH = 0x08;
  private static final int LONGEST_LINK = 4096;

  private final Libc.Calls calls;

  /** Makes descriptors by calls to this machine's C library. */
  Descriptors() {
    this(Libc.calls());
  }

  Descriptors(Libc.Calls calls) {
    this.calls = requireNonNull(calls, "calls");
  }

  // asm/fcntl.h: arm and powerpc have values of their own.
  static int noFollow(String architecture) {
    String arch = architecture.toLowerCase(Locale.ROOT);
    boolean own = arch.startsWith("aarch64") || arch.startsWith("arm") || arch.startsWith("ppc");
    return own ? 0100000 : 0400000;
  }

  /** Returns the id of the user as whom this process reads and writes. */
  int user() {
    return calls.geteuid();
  }

  /** Opens a path as the kernel resolves it, links followed. */
  Descriptor follow(Path file) throws IOException {
    try {
      return new Descriptor(file, calls.open(Libc.bytes(file), O_PATH | Libc.O_CLOEXEC));
    } catch (LastErrorException e) {
      throw error(file, e);
    }
  }

  /** Opens a path whose last name is not followed: a symbolic link there is opened itself. */
  Descriptor unfollowed(Path file) throws IOException {
    try {
      return new Descriptor(file, calls.open(Libc.bytes(file), O_PATH | Libc.O_CLOEXEC | O_NOFOLLOW));
    } catch (LastErrorException e) {
      throw error(file, e);
    }
  }

  /** Opens an entry of a directory; a symbolic link is opened itself. */
  Descriptor entry(Descriptor directory, String name, Path shown) throws IOException {
    return entry(directory, Path.of(name), shown);
  }

  /**
   * Opens an entry of a directory by a name whose bytes need not be text; a symbolic link is opened
   * itself.
   */
  Descriptor entry(Descriptor directory, Path name, Path shown) throws IOException {
    try {
      return new Descriptor(shown, calls.openat(
          directory.number(), Libc.bytes(name), O_PATH | Libc.O_CLOEXEC | O_NOFOLLOW));
    } catch (LastErrorException e) {
      throw error(shown, e);
    }
  }

  /**
   * Opens a path below a directory in one call, without looking at what it opens.
   *
   * @return null where a link lies on the way or at its end, or the kernel has no such call (before Linux 5.6, or
   *     hidden by seccomp): then go name by name
   */
  Descriptor beneath(Descriptor directory, Path names, Path shown) throws IOException {
    long[] how = {O_PATH | Libc.O_CLOEXEC, 0, NO_MAGICLINKS | NO_SYMLINKS | BENEATH};
    try {
      return new Descriptor(shown, (int) calls.syscall(
          OPENAT2, directory.number(), Libc.bytes(names), how, 8L * how.length));
    } catch (LastErrorException e) {
      int errno = e.getErrorCode();
      if (errno == Errno.ENOENT.number() || errno == Errno.EACCES.number()
          || errno == Errno.ENOTDIR.number()) {
        throw error(shown, e);
      }
      return null;
    }
  }

  /**
   * Removes an entry of a directory by the bytes of its name. Only the MDT is asked.
   *
   * @param isDirectory whether to remove an empty directory, or a name that is not a directory's
   * @param shown where it is, for errors
   * @throws ErrnoException {@code ENOTDIR} or {@code EISDIR} when it is the other kind
   * @throws DirectoryNotEmptyException when the directory has entries
   */
  void remove(Descriptor directory, Path name, boolean isDirectory, Path shown) throws IOException {
    remove(directory.number(), name, isDirectory, shown);
  }

  /**
   * Removes the name that a path ends in, by its bytes; of a symbolic link the link is removed.
   * Only the MDT is asked.
   *
   * @param isDirectory whether to remove an empty directory, or a name that is not a directory's
   * @throws ErrnoException {@code ENOTDIR} or {@code EISDIR} when it is the other kind
   * @throws DirectoryNotEmptyException when the directory has entries
   */
  void remove(Path file, boolean isDirectory) throws IOException {
    remove(Libc.AT_CWD, file, isDirectory, file);
  }

  private void remove(int directory, Path name, boolean isDirectory, Path shown) throws IOException {
    try {
      calls.unlinkat(directory, Libc.bytes(name), isDirectory ? Libc.AT_REMOVEDIR : 0);
    } catch (LastErrorException e) {
      int errno = e.getErrorCode();
      if (isDirectory && (errno == Errno.ENOTEMPTY.number() || errno == Errno.EEXIST.number())) {
        throw new DirectoryNotEmptyException(Descriptor.shown(shown).toString());
      }
      throw error(shown, isDirectory ? "rmdir" : "unlink", e);
    }
  }

  /** Returns the text that a symbolic link holds. */
  String target(Descriptor link, Path shown) throws IOException {
    byte[] target = new byte[LONGEST_LINK];
    try {
      int length =
          (int) calls.readlinkat(link.number(), new byte[1], target, target.length);
      return new String(target, 0, length, Libc.NAMES);
    } catch (LastErrorException e) {
      throw error(shown, e);
    }
  }

  private static IOException error(Path opened, LastErrorException error) {
    return error(opened, "open", error);
  }

  private static IOException error(Path named, String call, LastErrorException error) {
    Path file = Descriptor.shown(named);
    int errno = error.getErrorCode();
    if (errno == Errno.ENOENT.number()) {
      return new NoSuchFileException(file.toString());
    }
    if (errno == Errno.EACCES.number()) {
      return new AccessDeniedException(file.toString());
    }
    return new ErrnoException(file, call, errno);
  }
}
