package org.vas.filesystem;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
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
  public void mknod(Path file, int mode) throws ErrnoException {
    try {
      InThisProcess.CALLS.mknod(bytes(file), REGULAR_FILE | mode, 0);
    } catch (LastErrorException e) {
      throw new ErrnoException(file, "mknod", e.getErrorCode());
    }
  }

  /** Renames in one step, and only if nothing has the new name: {@code EEXIST} else. */
  static void renameNoReplace(Path from, Path to) throws ErrnoException {
    try {
      InThisProcess.CALLS.renameat2(AT_CWD, bytes(from), AT_CWD, bytes(to), NO_REPLACE);
    } catch (LastErrorException e) {
      throw new ErrnoException(to, "rename from " + from, e.getErrorCode());
    }
  }

  private static byte[] bytes(Path file) {
    byte[] name = file.toString().getBytes(NAMES);
    return Arrays.copyOf(name, name.length + 1);
  }
}
