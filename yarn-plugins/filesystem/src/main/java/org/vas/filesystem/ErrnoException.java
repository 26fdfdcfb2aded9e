package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Thrown when a system call failed; the message is one line: path, call, error and hint. */
public final class ErrnoException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final int number;
  // What Java can serialise: List.copyOf gives such a list.
  @SuppressWarnings("serial")
  private final List<String> osts;

  ErrnoException(Path file, String call, int number) {
    this(file, call, number, List.of());
  }

  ErrnoException(Path file, String call, Errno errno) {
    this(file, call, errno.number());
  }

  /**
   * Makes the error of one failed system call.
   * @param file below the mount
   * @param call the system call's name, as a person would say it
   * @param number errno
   * @param osts the OSTs that hold the bytes in question, as {@code OST000a}; empty if not known
   */
  public ErrnoException(Path file, String call, int number, List<String> osts) {
    super(Descriptor.shown(file) + ": " + call + ": "
        + Errno.of(number).map(errno -> errno.explained(osts)).orElse("error " + number));
    this.file = Descriptor.shown(file).toString();
    this.number = number;
    this.osts = List.copyOf(osts);
  }

  /** Returns the error; empty for a number that has no name here. */
  public Optional<Errno> errno() {
    return Errno.of(number);
  }

  /**
   * Returns the OSTs that hold what was asked for, as {@code OST000a}; empty where they are not
   * known.
   */
  public List<String> osts() {
    return osts;
  }

  /** Returns the path below the mount of the file that the call was about. */
  String file() {
    return file;
  }

  boolean is(Errno errno) {
    return errno().filter(errno::equals).isPresent();
  }
}
