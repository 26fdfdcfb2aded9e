package org.vas.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.security.AccessControlException;

/** Turns the errors of the operating system into the exceptions that Hadoop's callers expect. */
final class IoErrors {
  private IoErrors() {}

  /** A call on files: it returns a result, or throws an error of the operating system. */
  @FunctionalInterface
  interface Call<T> {
    T run() throws IOException;
  }

  /**
   * Runs a call and returns its result. An error of the operating system is thrown as the exception
   * that Hadoop's callers expect for its errno, such as {@code FileNotFoundException} for {@code
   * ENOENT}.
   *
   * @param path the path as the caller of the file system wrote it; messages begin with it
   */
  static <T> T translating(Path path, Call<T> call) throws IOException {
    try {
      return call.run();
    } catch (FileSystemException | ErrnoException e) {
      throw translate(path, e);
    }
  }

  /**
   * Runs a call that reads, and translates its errors as {@link #translating} does, except that
   * {@code ENOTDIR} too becomes {@code FileNotFoundException}: nothing can be there when a file
   * stands in the place of a directory on the way.
   *
   * @param path the path as the caller of the file system wrote it; messages begin with it
   */
  static <T> T reading(Path path, Call<T> call) throws IOException {
    try {
      return translating(path, call);
    } catch (ParentNotDirectoryException e) {
      throw caused(new FileNotFoundException(e.getMessage()), e);
    }
  }

  /**
   * Returns an exception whose message names path, call, errno and what to do; the given exception
   * itself when no errno can be found in it.
   *
   * @param call the name of the system call that failed, such as {@code read}
   */
  static IOException explained(Path path, String call, IOException error) {
    Optional<Errno> errno = errno(error);
    return errno.isEmpty() ? error
        : new IOException(path + ": " + call + ": " + errno.get().explained(osts(error)), error);
  }

  private static IOException translate(Path path, IOException error) {
    Optional<Errno> errno = errno(error);
    String message = errno.map(known -> place(path, error) + known.explained(osts(error)))
        .orElseGet(() -> path + ": " + said(error));
    return caused(typed(path, errno, message), error);
  }

  // Without the file that Java puts before it, which may be one of this process' descriptors.
  private static String said(IOException error) {
    String reason = error instanceof FileSystemException
        ? ((FileSystemException) error).getReason() : error.getMessage();
    return reason == null ? error.getClass().getSimpleName() : reason;
  }

  // Of a call on a directory it may be an entry that failed.
  private static String place(Path path, IOException error) {
    String file = error instanceof ErrnoException
        ? ((ErrnoException) error).file() : ((FileSystemException) error).getFile();
    boolean below = file != null && !path.isRoot() && !file.endsWith("/" + path.getName())
        && !Descriptor.isPathOfOne(file);
    return path + ": " + (below ? file + ": " : "");
  }

  private static List<String> osts(IOException error) {
    return error instanceof ErrnoException ? ((ErrnoException) error).osts() : List.of();
  }

  private static IOException typed(Path path, Optional<Errno> errno, String message) {
    if (errno.isEmpty()) {
      return new IOException(message);
    }
    switch (errno.get()) {
      case ENOENT:
        return new FileNotFoundException(message);
      case EEXIST:
      case EISDIR:
        return new FileAlreadyExistsException(message);
      case EACCES:
      case EPERM:
        return new AccessControlException(message);
      case ENOTEMPTY:
        return new PathIsNotEmptyDirectoryException(path.toString());
      case ENOTDIR:
        return new ParentNotDirectoryException(message);
      case ELOOP:
        return new IOException("Possible cyclic loop while following symbolic link " + path);
      default:
        return new IOException(message);
    }
  }

  /**
   * Returns the errno that an exception tells by its type, its number or its text; empty when it
   * tells none that is known.
   */
  static Optional<Errno> errno(IOException error) {
    if (error instanceof ErrnoException) {
      return ((ErrnoException) error).errno();
    }
    if (error instanceof NoSuchFileException) {
      return Optional.of(Errno.ENOENT);
    }
    if (error instanceof java.nio.file.FileAlreadyExistsException) {
      return Optional.of(Errno.EEXIST);
    }
    if (error instanceof AccessDeniedException) {
      return Optional.of(Errno.EACCES);
    }
    if (error instanceof DirectoryNotEmptyException) {
      return Optional.of(Errno.ENOTEMPTY);
    }
    return Errno.in(error instanceof FileSystemException
        ? ((FileSystemException) error).getReason() : error.getMessage());
  }

  private static <E extends IOException> E caused(E error, IOException cause) {
    error.initCause(cause);
    return error;
  }
}
