package org.vas.filesystem;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * System calls on names and descriptors, with their errno. They are looked up in the process, as
 * {@link Libc}'s are, so that a preloaded library takes part.
 */
final class Posix {
  private static final int AT_CWD = -100;
  private static final int NO_FOLLOW = 0x100;
  private static final int TYPE_MODE_LINKS_OWNER_CTIME_INODE = 0x18f;
  private static final int STATX_BYTES = 256;
  private static final int OPEN_CLOSE_ON_EXEC = 02000000;

  private Posix() {}

  /** The functions, named as in C. */
  interface Calls extends Library {
    int link(byte[] from, byte[] to) throws LastErrorException;

    int symlink(byte[] target, byte[] link) throws LastErrorException;

    int unlink(byte[] file) throws LastErrorException;

    int rename(byte[] from, byte[] to) throws LastErrorException;

    int statx(int directory, byte[] file, int flags, int mask, byte[] answer)
        throws LastErrorException;

    int open(byte[] file, int flags) throws LastErrorException;

    int flock(int descriptor, int operation) throws LastErrorException;

    int close(int descriptor) throws LastErrorException;
  }

  private static final class InThisProcess {
    private static final Calls CALLS = Native.load(Calls.class);
  }

  /** A call that answers by its status or an errno. */
  @FunctionalInterface
  private interface Call {
    int run(Calls calls) throws LastErrorException;
  }

  /** Gives a file a second name. A symbolic link is not followed. */
  static void link(Path from, Path to) throws ErrnoException {
    run(to, "link from " + PathHandle.shown(from), calls -> calls.link(Libc.bytes(from), Libc.bytes(to)));
  }

  /** Makes a symbolic link that holds exactly this text. */
  static void symlink(String text, Path link) throws ErrnoException {
    run(link, "symlink", calls -> calls.symlink(Libc.bytes(Path.of(text)), Libc.bytes(link)));
  }

  /** Removes a name that is not a directory's. */
  static void unlink(Path file) throws ErrnoException {
    run(file, "unlink", calls -> calls.unlink(Libc.bytes(file)));
  }

  /** Renames in one step, over a file if one has the new name. */
  static void rename(Path from, Path to) throws ErrnoException {
    run(to, "rename from " + PathHandle.shown(from), calls -> calls.rename(Libc.bytes(from), Libc.bytes(to)));
  }

  /**
   * Renames a directory in one step, over an empty directory if one has the new name. The kernel
   * refuses all else: {@code ENOTEMPTY} for a directory with entries, and {@code ENOTDIR} if either
   * name is a file's; the slash says so of the source, which may have been exchanged meanwhile.
   */
  static void renameDirectory(Path from, Path to) throws ErrnoException {
    run(to, "rename from " + PathHandle.shown(from),
        calls -> calls.rename(Libc.bytes(from + "/"), Libc.bytes(to.toString())));
  }

  /** Which file a name leads to; {@code ENOSYS} where kernel or C library are older than statx. */
  static FileId statx(Path file, boolean follow) throws ErrnoException {
    byte[] answer = new byte[STATX_BYTES];
    run(file, "statx", calls -> calls.statx(
        AT_CWD, Libc.bytes(file), follow ? 0 : NO_FOLLOW, TYPE_MODE_LINKS_OWNER_CTIME_INODE,
        answer));
    ByteBuffer stat = ByteBuffer.wrap(answer).order(ByteOrder.nativeOrder());
    long device = (long) stat.getInt(136) << 32 | Integer.toUnsignedLong(stat.getInt(140));
    return new FileId(
        device, stat.getLong(32), stat.getInt(16), Short.toUnsignedInt(stat.getShort(28)),
        stat.getInt(20), TimeUnit.SECONDS.toNanos(stat.getLong(96)) + stat.getInt(104));
  }

  /** Opens a file; the descriptor is not handed down to programs. */
  static int open(Path file, int flags) throws ErrnoException {
    return run(file, "open", calls -> calls.open(Libc.bytes(file), flags | OPEN_CLOSE_ON_EXEC));
  }

  /** Locks or unlocks an open file; the name is for errors only. */
  static void flock(Path file, int descriptor, int operation) throws ErrnoException {
    run(file, "flock", calls -> calls.flock(descriptor, operation));
  }

  /** Closes a descriptor; the name is for errors only. */
  static void close(Path file, int descriptor) throws ErrnoException {
    run(file, "close", calls -> calls.close(descriptor));
  }

  private static int run(Path file, String name, Call call) throws ErrnoException {
    try {
      return call.run(InThisProcess.CALLS);
    } catch (LastErrorException e) {
      throw new ErrnoException(file, name, e.getErrorCode());
    } catch (UnsatisfiedLinkError olderThanTheCall) {
      throw new ErrnoException(file, name, Errno.ENOSYS);
    }
  }
}
