package org.vas.filesystem;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.ptr.LongByReference;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Makes system calls on names and descriptors; their errors have the errno. The calls are looked up
 * in the process and not in a library of a given name, so that a preloaded library takes part.
 */
final class Libc implements ClientCalls {
  /** The charset in which java.nio turns file names, which are bytes, into strings and back. */
  static final Charset NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
  // A layout of 2000 stripes takes 48 KB; composite ones may be larger.
  private static final int[] VALUE_SIZES = {4 << 10, 64 << 10, 1 << 20};
  private static final int REGULAR_FILE = 0100000;
  /** Stands for the working directory in calls ending in "at". */
  static final int AT_CWD = -100;
  /** Makes unlinkat remove an empty directory, and nothing else. */
  static final int AT_REMOVEDIR = 0x200;
  private static final int NO_REPLACE = 1;
  private static final int NO_FOLLOW = 0x100;
  private static final int TYPE_MODE_LINKS_OWNER_CTIME_INODE = 0x18f;
  private static final int STATX_BYTES = 256;
  static final int O_CLOEXEC = 02000000;

  /** The functions of the C library that this package calls, named as in C. */
  interface Calls extends Library {
    long getxattr(byte[] path, String name, byte[] value, long size) throws LastErrorException;

    int setxattr(byte[] path, String name, byte[] value, long size, int flags)
        throws LastErrorException;

    int mknod(byte[] path, int mode, long device) throws LastErrorException;

    /** Makes a file, for glibc before 2.33, whose mknod was an inline function around this one. */
    @SuppressWarnings("MemberName")
    int __xmknod(int version, byte[] path, int mode, LongByReference device)
        throws LastErrorException;

    String strerror(int number);

    int renameat2(int fromDirectory, byte[] from, int toDirectory, byte[] to, int flags)
        throws LastErrorException;

    int link(byte[] from, byte[] to) throws LastErrorException;

    int symlink(byte[] target, byte[] link) throws LastErrorException;

    int unlink(byte[] file) throws LastErrorException;

    int unlinkat(int directory, byte[] name, int flags) throws LastErrorException;

    int rename(byte[] from, byte[] to) throws LastErrorException;

    int statx(int directory, byte[] file, int flags, int mask, byte[] answer)
        throws LastErrorException;

    int open(byte[] file, int flags) throws LastErrorException;

    int openat(int directory, byte[] path, int flags) throws LastErrorException;

    /** Calls openat2; {@code how} has flags, mode and resolve of struct open_how. */
    long syscall(long number, long directory, byte[] path, long[] how, long size)
        throws LastErrorException;

    long readlinkat(int directory, byte[] path, byte[] target, long size)
        throws LastErrorException;

    int flock(int descriptor, int operation) throws LastErrorException;

    int close(int descriptor) throws LastErrorException;

    int geteuid();
  }

  /** A call that answers by its status or an errno. */
  @FunctionalInterface
  private interface Call {
    int run(Calls calls) throws LastErrorException;
  }

  // Apart, because Hadoop makes one of every file system it finds, also where none is used.
  private static final class InThisProcess {
    private static final Calls CALLS = Native.load(Calls.class);
  }

  /** Returns the functions of this process' C library. */
  static Calls calls() {
    return InThisProcess.CALLS;
  }

  @Override
  public byte[] get(Path file, String name) throws ErrnoException {
    int last = VALUE_SIZES.length - 1;
    for (int i = 0; i < last; i++) {
      try {
        return get(file, name, VALUE_SIZES[i]);
      } catch (ErrnoException e) {
        if (!e.is(Errno.ERANGE)) {
          throw e;
        }
      }
    }
    return get(file, name, VALUE_SIZES[last]);
  }

  private static byte[] get(Path file, String name, int size) throws ErrnoException {
    byte[] value = new byte[size];
    int length = run(file, "getxattr " + name,
        calls -> (int) calls.getxattr(bytes(file), name, value, size));
    return Arrays.copyOf(value, length);
  }

  @Override
  public void set(Path file, String name, byte[] value) throws ErrnoException {
    run(file, "setxattr " + name,
        calls -> calls.setxattr(bytes(file), name, value, value.length, 0));
  }

  @Override
  public void mknod(Path file, int mode) throws IOException {
    mknod(calls(), file, mode);
  }

  static void mknod(Calls calls, Path file, int mode) throws IOException {
    try {
      mknod(calls, bytes(file), REGULAR_FILE | mode);
    } catch (LastErrorException e) {
      throw new ErrnoException(file, "mknod", e.getErrorCode());
    } catch (UnsatisfiedLinkError e) {
      throw new IOException(Descriptor.shown(file) + ": this C library has neither mknod nor"
          + " __xmknod; run the JVM with glibc", e);
    }
  }

  private static void mknod(Calls calls, byte[] file, int mode) {
    try {
      calls.mknod(file, mode, 0);
    } catch (UnsatisfiedLinkError olderThanGlibc233) {
      // _MKNOD_VER of its bits/stat.h: 0 where a long has 64 bits, 1 where it has 32.
      calls.__xmknod(Native.LONG_SIZE == 8 ? 0 : 1, file, mode, new LongByReference());
    }
  }

  /**
   * Renames in one step, and only if nothing has the new name.
   *
   * @throws ErrnoException {@code EEXIST} when something has it, {@code EINVAL} on Lustre, {@code
   *     ENOSYS} where the C library is older than the call
   */
  @Override
  public void renameNoReplace(Path from, Path to) throws ErrnoException {
    renameNoReplace(calls(), from, to);
  }

  static void renameNoReplace(Calls calls, Path from, Path to) throws ErrnoException {
    run(calls, to, "rename from " + Descriptor.shown(from),
        each -> each.renameat2(AT_CWD, bytes(from), AT_CWD, bytes(to), NO_REPLACE));
  }

  /** Gives a file a second name. A symbolic link is not followed. */
  @Override
  public void link(Path from, Path to) throws ErrnoException {
    run(to, "link from " + Descriptor.shown(from), calls -> calls.link(bytes(from), bytes(to)));
  }

  /** Makes a symbolic link that holds exactly this text. */
  static void symlink(String text, Path link) throws ErrnoException {
    run(link, "symlink", calls -> calls.symlink(bytes(text), bytes(link)));
  }

  /** Removes a name that is not a directory's. */
  static void unlink(Path file) throws ErrnoException {
    run(file, "unlink", calls -> calls.unlink(bytes(file)));
  }

  /** Renames in one step, over a file if one has the new name. */
  static void rename(Path from, Path to) throws ErrnoException {
    run(to, "rename from " + Descriptor.shown(from), calls -> calls.rename(bytes(from), bytes(to)));
  }

  /**
   * Renames a directory in one step, over an empty directory if one has the new name. The kernel
   * refuses all else: {@code ENOTEMPTY} for a directory with entries, and {@code ENOTDIR} if either
   * name is a file's. A slash after the source makes it refuse a file that took its name meanwhile.
   */
  static void renameDirectory(Path from, Path to) throws ErrnoException {
    run(to, "rename from " + Descriptor.shown(from),
        calls -> calls.rename(terminated(RawNames.bytes(from), "/"), bytes(to)));
  }

  /**
   * Returns the identity of the file that a name leads to.
   *
   * @throws ErrnoException {@code ENOENT} when there is none; {@code ENOSYS} where kernel or C
   *     library are older than statx
   */
  static FileId statx(Path file, boolean follow) throws ErrnoException {
    byte[] answer = new byte[STATX_BYTES];
    run(file, "statx", calls -> calls.statx(AT_CWD, bytes(file), follow ? 0 : NO_FOLLOW,
        TYPE_MODE_LINKS_OWNER_CTIME_INODE, answer));
    ByteBuffer stat = ByteBuffer.wrap(answer).order(ByteOrder.nativeOrder());
    long device = FileId.device(stat.getInt(136), stat.getInt(140));
    return new FileId(
        device, stat.getLong(32), stat.getInt(16), Short.toUnsignedInt(stat.getShort(28)),
        stat.getInt(20), TimeUnit.SECONDS.toNanos(stat.getLong(96)) + stat.getInt(104));
  }

  /** Opens a file and returns its descriptor, which is not handed down to programs. */
  static int open(Path file, int flags) throws ErrnoException {
    return run(file, "open", calls -> calls.open(bytes(file), flags | O_CLOEXEC));
  }

  /** Locks or unlocks an open file; the name is for errors only. */
  static void flock(Path file, int descriptor, int operation) throws ErrnoException {
    run(file, "flock", calls -> calls.flock(descriptor, operation));
  }

  /** Closes a descriptor; the name is for errors only. */
  static void close(Path file, int descriptor) throws ErrnoException {
    run(file, "close", calls -> calls.close(descriptor));
  }

  /**
   * Returns the C library's text for an errno, in the language of this process; null without JNA.
   */
  static String errorText(int number) {
    try {
      return calls().strerror(number);
    } catch (LinkageError e) {
      return null;
    }
  }

  private static int run(Path file, String name, Call call) throws ErrnoException {
    return run(calls(), file, name, call);
  }

  private static int run(Calls calls, Path file, String name, Call call) throws ErrnoException {
    try {
      return call.run(calls);
    } catch (LastErrorException e) {
      throw new ErrnoException(file, name, e.getErrorCode());
    } catch (UnsatisfiedLinkError olderThanTheCall) {
      throw new ErrnoException(file, name, Errno.ENOSYS);
    }
  }

  /**
   * Returns the bytes of a file name, which need not be text, as C takes them: with a zero at the
   * end.
   */
  static byte[] bytes(Path file) {
    return terminated(RawNames.bytes(file), "");
  }

  private static byte[] bytes(String text) {
    return terminated(text.getBytes(NAMES), "");
  }

  private static byte[] terminated(byte[] name, String end) {
    byte[] terminated = Arrays.copyOf(name, name.length + end.length() + 1);
    for (int i = 0; i < end.length(); i++) {
      terminated[name.length + i] = (byte) end.charAt(i);
    }
    return terminated;
  }
}
