package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Path;

/** The system calls that Java lacks for layouts: {@link Libc}, and in tests a stand-in. */
interface XattrCalls {
  /** The value of an extended attribute. */
  byte[] get(Path file, String name) throws ErrnoException;

  /** Sets an extended attribute. */
  void set(Path file, String name, byte[] value) throws ErrnoException;

  /**
   * Makes an empty regular file that must not exist, without opening it.
   *
   * @throws IOException an {@link ErrnoException}, unless the call itself is missing here
   */
  void mknod(Path file, int mode) throws IOException;
}
