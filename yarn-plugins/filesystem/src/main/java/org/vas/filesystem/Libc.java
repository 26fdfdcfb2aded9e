package org.vas.filesystem;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.ptr.LongByReference;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The C library, as this process sees it: symbols are looked up in the process and not in a
 * library of a given name, so that a preloaded library takes part.
 */
final class Libc implements XattrCalls {
  // File names are bytes; these are the bytes that java.nio makes of them.
  private static final Charset NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
  // A layout of 2000 stripes takes 48 KB; composite ones may be larger.
  private static final int[] VALUE_SIZES = {4 << 10, 64 << 10, 1 << 20};
  private static final int REGULAR_FILE = 0100000;
  private static final int AT_CWD = -100;
  private static final int NO_REPLACE = 1;

  /** The functions, named as in C. */
  interface Calls extends Library {
    long getxattr(byte[] path, String name, byte[] value, long size) throws LastErrorException;

    int setxattr(byte[] path, String name, byte[] value, long size, int flags)
        throws LastErrorException;

    int mknod(byte[] path, int mode, long device) throws LastErrorException;

    /** What mknod was an inline function around, before glibc 2.33. */
    @SuppressWarnings("MemberName")
    int __xmknod(int version, byte[] path, int mode, LongByReference device)
        throws LastErrorException;

    String strerror(int number);

    int renameat2(int fromDirectory, byte[] from, int toDirectory, byte[] to, int flags)
        throws LastErrorException;
  }

  // Apart, because Hadoop makes one of every file system it finds, also where none is used.
  private static final class InThisProcess {
    private static final Calls CALLS = Native.load(Calls.class);
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
    try {
      int length = (int) InThisProcess.CALLS.getxattr(bytes(file), name, value, size);
      return Arrays.copyOf(value, length);
    } catch (LastErrorException e) {
      throw new ErrnoException(file, "getxattr " + name, e.getErrorCode());
    }
  }

  @Override
  public void set(Path file, String name, byte[] value) throws ErrnoException {
    try {
      InThisProcess.CALLS.setxattr(bytes(file), name, value, value.length, 0);
    } catch (LastErrorException e) {
      throw new ErrnoException(file, "setxattr " + name, e.getErrorCode());
    }
  }

  @Override
  public void mknod(Path file, int mode) throws IOException {
    mknod(InThisProcess.CALLS, file, mode);
  }

  static void mknod(Calls calls, Path file, int mode) throws IOException {
    try {
      mknod(calls, bytes(file), REGULAR_FILE | mode);
    } catch (LastErrorException e) {
      throw new ErrnoException(file, "mknod", e.getErrorCode());
    } catch (UnsatisfiedLinkError e) {
      throw new IOException(PathHandle.shown(file) + ": this C library has neither mknod nor __xmknod;"
          + " run the JVM with glibc", e);
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
   * Renames in one step, and only if nothing has the new name: {@code EEXIST} else, {@code EINVAL}
   * on Lustre, and {@code ENOSYS} where the C library is older than the call.
   */
  @Override
  public void renameNoReplace(Path from, Path to) throws ErrnoException {
    renameNoReplace(InThisProcess.CALLS, from, to);
  }

  static void renameNoReplace(Calls calls, Path from, Path to) throws ErrnoException {
    try {
      calls.renameat2(AT_CWD, bytes(from), AT_CWD, bytes(to), NO_REPLACE);
    } catch (LastErrorException e) {
      throw new ErrnoException(to, "rename from " + PathHandle.shown(from), e.getErrorCode());
    } catch (UnsatisfiedLinkError olderThanGlibc228) {
      throw new ErrnoException(to, "rename from " + PathHandle.shown(from), Errno.ENOSYS);
    }
  }

  /** What the C library says of an error, in the language of this process; null without JNA. */
  static String errorText(int number) {
    try {
      return InThisProcess.CALLS.strerror(number);
    } catch (LinkageError e) {
      return null;
    }
  }

  /** A file name as C takes it, with a zero at its end. */
  static byte[] bytes(Path file) {
    return bytes(file.toString());
  }

  /** As {@link #bytes(Path)}, of a name that may end with a slash. */
  static byte[] bytes(String file) {
    byte[] name = file.getBytes(NAMES);
    return Arrays.copyOf(name, name.length + 1);
  }
}
