package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** A system call failed; the message is one line: path, call, error and hint. */
final class ErrnoException extends IOException {
  private static final long serialVersionUID = 1L;

  private final int number;

  ErrnoException(Path file, String call, int number) {
    super(PathHandle.shown(file) + ": " + call + ": "
        + Errno.of(number).map(Errno::explained).orElse("error " + number));
    this.number = number;
  }

  ErrnoException(Path file, String call, Errno errno) {
    this(file, call, errno.number());
  }

  Optional<Errno> errno() {
    return Errno.of(number);
  }

  boolean is(Errno errno) {
    return errno().filter(errno::equals).isPresent();
  }
}
