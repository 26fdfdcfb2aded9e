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
  /**
   * EIO: objects are damaged, or a server is. Its map has to run again if it is the only one;
   * of two, the file system is sick.
   */
  UNREADABLE,
  /** The file system, or something unknown: the reduce attempt fails, and no map is run again. */
  SICK_FILE_SYSTEM;

  // What the C library and the kernel say; Java puts it into messages, even of "not found".
  private static final String EIO = "Input/output error";
  private static final List<String> ERRNO_TEXTS = List.of("Stale file handle",
      "Stale NFS file handle", "No space left on device", "Disk quota exceeded",
      "Permission denied", "Operation not permitted", "Read-only file system",
      "Connection timed out", "Transport endpoint", "transport endpoint",
      "Too many open files", "Resource temporarily unavailable", "Cannot allocate memory",
      "Host is down", "No such device", "Interrupted system call");
  private static final List<Class<? extends Throwable>> ONE_OUTPUT =
      List.of(BadOutputException.class, ManifestException.class, FileNotFoundException.class,
          NoSuchFileException.class, EOFException.class, ChecksumException.class);

  static Diagnosis of(Throwable error) {
    if (ERRNO_TEXTS.stream().anyMatch(text -> saysSo(error, text))) {
      return SICK_FILE_SYSTEM;
    }
    if (saysSo(error, EIO)) {
      return UNREADABLE;
    }
    return ONE_OUTPUT.stream().anyMatch(kind -> kind.isInstance(error))
        ? BAD_MAP : SICK_FILE_SYSTEM;
  }

  // As a phrase of its own, not as a part of some path in the message.
  private static boolean saysSo(Throwable error, String text) {
    Pattern phrase = Pattern.compile("(?<![\\w/.-])" + Pattern.quote(text) + "(?![\\w/-])");
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (phrase.matcher(String.valueOf(cause.getMessage())).find()) {
        return true;
      }
    }
    return false;
  }
}
