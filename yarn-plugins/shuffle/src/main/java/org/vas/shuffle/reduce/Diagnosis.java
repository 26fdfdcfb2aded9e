package org.vas.shuffle.reduce;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.ChecksumException;
import org.vas.shuffle.mof.BadOutputException;
import org.vas.shuffle.mof.ManifestException;

/** Who is to blame when a map output cannot be read. */
enum Diagnosis {
  /** This one output: its map has to run again. */
  BAD_MAP,
  /** The file system, or something unknown: the reduce attempt fails, and no map is run again. */
  SICK_FILE_SYSTEM;

  // What the C library and the kernel say; Java puts it into messages, even of "not found".
  private static final List<String> ERRNO_TEXTS = List.of("Input/output error", "Stale file handle",
      "Stale NFS file handle", "No space left on device", "Disk quota exceeded",
      "Permission denied", "Operation not permitted", "Read-only file system",
      "Connection timed out", "Transport endpoint", "transport endpoint",
      "Too many open files", "Resource temporarily unavailable", "Cannot allocate memory",
      "Host is down", "No such device", "Interrupted system call");
  private static final List<Class<? extends Throwable>> ONE_OUTPUT =
      List.of(BadOutputException.class, ManifestException.class, FileNotFoundException.class,
          NoSuchFileException.class, EOFException.class, ChecksumException.class);

  static Diagnosis of(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      String message = String.valueOf(cause.getMessage());
      if (ERRNO_TEXTS.stream().anyMatch(text -> saysSo(message, text))) {
        return SICK_FILE_SYSTEM;
      }
    }
    return ONE_OUTPUT.stream().anyMatch(kind -> kind.isInstance(error))
        ? BAD_MAP : SICK_FILE_SYSTEM;
  }

  // As a phrase of its own, not as a part of some path in the message.
  private static boolean saysSo(String message, String text) {
    return Pattern.compile("(?<![\\w/.-])" + Pattern.quote(text) + "(?![\\w/-])").matcher(message).find();
  }
}
