package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** System calls that make {@link PathHandle}s, and never follow a link unless they say so. */
final class Descriptors {
  private static final Charset NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
  private static final int O_PATH = 010000000;
  private static final int O_CLOEXEC = 02000000;
  /** {@code O_NOFOLLOW} of this machine. */
  static final int O_NOFOLLOW = noFollow(System.getProperty("os.arch"));
  private static final long OPENAT2 = 437;  // the same number on every architecture
  private static final long NO_MAGICLINKS = 0x02;
  private static final long NO_SYMLINKS = 0x04;
  private static final long BENEATH = 0x08;
  private static final int LONGEST_LINK = 4096;

  private final Calls calls;

  /** The functions, named as in C. */
  interface Calls extends Library {
    int open(byte[] path, int flags) throws LastErrorException;

    int openat(int directory, byte[] path, int flags) throws LastErrorException;

    /** {@code how}: flags, mode and resolve of struct open_how. */
    long syscall(long number, long directory, byte[] path, long[] how, long size)
        throws LastErrorException;

    long readlinkat(int directory, byte[] path, byte[] target, long size)
        throws LastErrorException;

    int close(int descriptor);

    int geteuid();
  }

  /** Through this machine's C library. */
  Descriptors() {
    this(InThisProcess.CALLS);
  }

  Descriptors(Calls calls) {
    this.calls = requireNonNull(calls, "calls");
  }

  // Apart, because Hadoop makes one of every file system it finds, also where none is used.
  private static final class InThisProcess {
    private static final Calls CALLS = Native.load(Calls.class);
  }

  // asm/fcntl.h: arm and powerpc have values of their own.
  static int noFollow(String architecture) {
    String arch = architecture.toLowerCase(Locale.ROOT);
    boolean own = arch.startsWith("aarch64") || arch.startsWith("arm") || arch.startsWith("ppc");
    return own ? 0100000 : 0400000;
  }

  /** The user as whom this process reads and writes. */
  int user() {
    return calls.geteuid();
  }

  /** Opens a path as the kernel resolves it, links followed. */
  PathHandle follow(Path file) throws IOException {
    try {
      return handle(calls.open(bytes(file.toString()), O_PATH | O_CLOEXEC));
    } catch (LastErrorException e) {
      throw error(file, e);
    }
  }

  /** Opens a path whose last name is not followed: a symbolic link there is opened itself. */
  PathHandle unfollowed(Path file) throws IOException {
    try {
      return handle(calls.open(bytes(file.toString()), O_PATH | O_CLOEXEC | O_NOFOLLOW));
    } catch (LastErrorException e) {
      throw error(file, e);
    }
  }

  /** Opens an entry of a directory; a symbolic link is opened itself. */
  PathHandle entry(PathHandle directory, String name, Path shown) throws IOException {
    return entry(directory, Path.of(name), shown);
  }

  /** As the other; the bytes of the name may be no text. */
  PathHandle entry(PathHandle directory, Path name, Path shown) throws IOException {
    try {
      return handle(calls.openat(
          directory.descriptor(), terminated(RawNames.bytes(name)), O_PATH | O_CLOEXEC | O_NOFOLLOW));
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
  PathHandle beneath(PathHandle directory, Path names, Path shown) throws IOException {
    long[] how = {O_PATH | O_CLOEXEC, 0, NO_MAGICLINKS | NO_SYMLINKS | BENEATH};
    try {
      return handle((int) calls.syscall(
          OPENAT2, directory.descriptor(), bytes(names.toString()), how, 8L * how.length));
    } catch (LastErrorException e) {
      int errno = e.getErrorCode();
      if (errno == Errno.ENOENT.number() || errno == Errno.EACCES.number()
          || errno == Errno.ENOTDIR.number()) {
        throw error(shown, e);
      }
      return null;
    }
  }

  /** What a symbolic link holds. */
  String target(PathHandle link, Path shown) throws IOException {
    byte[] target = new byte[LONGEST_LINK];
    try {
      int length =
          (int) calls.readlinkat(link.descriptor(), new byte[1], target, target.length);
      return new String(target, 0, length, NAMES);
    } catch (LastErrorException e) {
      throw error(shown, e);
    }
  }

  void close(int descriptor) {
    calls.close(descriptor);
  }

  private PathHandle handle(int descriptor) {
    return new PathHandle(this, descriptor);
  }

  private static IOException error(Path opened, LastErrorException error) {
    Path file = PathHandle.shown(opened);
    int errno = error.getErrorCode();
    if (errno == Errno.ENOENT.number()) {
      return new NoSuchFileException(file.toString());
    }
    if (errno == Errno.EACCES.number()) {
      return new AccessDeniedException(file.toString());
    }
    return new ErrnoException(file, "open", errno);
  }

  private static byte[] bytes(String path) {
    return terminated(path.getBytes(NAMES));
  }

  private static byte[] terminated(byte[] name) {
    return Arrays.copyOf(name, name.length + 1);
  }
}
