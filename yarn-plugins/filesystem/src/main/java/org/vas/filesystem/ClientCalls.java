package org.vas.filesystem;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.Path;

/**
 * The system calls that a Lustre client answers differently from other file systems. {@link Libc}
 * makes them; tests have a stand-in.
 */
interface ClientCalls {
  /**
   * Returns the value of a file's extended attribute.
   *
   * @param name such as {@code lustre.lov}
   * @throws ErrnoException {@code ENODATA} when the file does not have it, {@code EOPNOTSUPP} when
   *     the mount does not know such attributes
   */
  byte[] get(Path file, String name) throws ErrnoException;

  /**
   * Sets an extended attribute of a file.
   *
   * @param name such as {@code lustre.lov}
   * @throws ErrnoException {@code EOPNOTSUPP} when the mount does not know such attributes
   */
  void set(Path file, String name, byte[] value) throws ErrnoException;

  /**
   * Makes an empty regular file without opening it.
   *
   * @throws ErrnoException {@code EEXIST} when something has the name, or another error of mknod
   * @throws IOException when the C library does not have the call
   */
  void mknod(Path file, int mode) throws IOException;

  /**
   * Renames in one step, and only if nothing has the new name.
   *
   * @throws ErrnoException {@code EEXIST} when something has it; {@code EINVAL} from a Lustre
   *     client, which refuses the flag of renameat2 that this needs
   */
  default void renameNoReplace(Path from, Path to) throws ErrnoException {
    new Libc().renameNoReplace(from, to);
  }

  /**
   * Gives a file a second name.
   *
   * @throws ErrnoException {@code EEXIST} when something has that name
   */
  default void link(Path from, Path to) throws ErrnoException {
    new Libc().link(from, to);
  }

  /**
   * Returns the channel through which the bytes of an open file are read, written and synced:
   * {@code open} itself. A stand-in for a client's page cache, or for an OST that is away, wraps
   * it.
   *
   * @param file a path that leads to the open file, even if another file has its name by now
   */
  default AsynchronousFileChannel bytes(Path file, AsynchronousFileChannel open)
      throws IOException {
    return open;
  }
}
