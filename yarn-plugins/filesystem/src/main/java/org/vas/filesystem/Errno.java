package org.vas.filesystem;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.regex.Pattern;

/** The errors of Linux that a Lustre client gives, and what to do about each. */
public enum Errno {
  EPERM(1, "Operation not permitted", "only the owner or root may do this"),
  ENOENT(2, "No such file or directory", ""),
  EINTR(4, "Interrupted system call", "try again"),
  EIO(5, "Input/output error", "see dmesg here and on the OSS, and 'lfs check servers'"),
  EAGAIN(11, "Resource temporarily unavailable", "try again"),
  ENOMEM(12, "Cannot allocate memory", "this machine has too little memory"),
  EACCES(13, "Permission denied", "check the permissions of the file and of its directories"),
  EEXIST(17, "File exists", ""),
  EXDEV(18, "Invalid cross-device link", "no rename leaves a project quota or a file system:"
      + " compare 'lfs project -d' of both directories, and what is mounted below the Lustre mount;"
      + " copy and delete instead"),
  ENODEV(19, "No such device", "see 'lfs check servers' and dmesg"),
  ENOTDIR(20, "Not a directory", ""),
  EISDIR(21, "Is a directory", ""),
  EINVAL(22, "Invalid argument", ""),
  ENFILE(23, "Too many open files in system", "raise fs.file-max"),
  EMFILE(24, "Too many open files", "raise the limit of this process ('ulimit -n')"),
  ENOSPC(28, "No space left on device",
      "'lfs df -h' and 'lfs df -i' show which OST or MDT is full"),
  EROFS(30, "Read-only file system", "Lustre is mounted read-only here"),
  EMLINK(31, "Too many links", ""),
  ERANGE(34, "Numerical result out of range", ""),
  ENAMETOOLONG(36, "File name too long", "a name has at most 255 bytes"),
  ENOLCK(37, "No locks available", ""),
  ENOSYS(38, "Function not implemented", ""),
  ENOTEMPTY(39, "Directory not empty", ""),
  ELOOP(40, "Too many levels of symbolic links", ""),
  ENODATA(61, "No data available", ""),
  EOPNOTSUPP(95, "Operation not supported", ""),
  ENOTCONN(107, "Transport endpoint is not connected", "run 'lfs check servers'"),
  ESHUTDOWN(108, "Cannot send after transport endpoint shutdown",
      "the server is away, or evicted this client: see 'lfs check servers' and dmesg"),
  ETIMEDOUT(110, "Connection timed out", "see 'lfs check servers' and dmesg"),
  EHOSTDOWN(112, "Host is down", "see 'lfs check servers' and dmesg"),
  ESTALE(116, "Stale file handle", "the file was removed on another client"),
  EDQUOT(122, "Disk quota exceeded", "see 'lfs quota -u USER MOUNT'");

  private final int number;
  private final String text;
  private final String hint;

  Errno(int number, String text, String hint) {
    this.number = number;
    this.text = text;
    this.hint = hint;
  }

  static Optional<Errno> of(int number) {
    return Arrays.stream(values()).filter(errno -> errno.number == number).findFirst();
  }

  /**
   * Returns the error whose text Java's own I/O gave as a message; empty when there is none, or the
   * message is null. The text is that of this process' C library, in whatever language, else the
   * English one.
   */
  static Optional<Errno> in(String message) {
    return in(message, LocalTexts.TEXTS::get);
  }

  /**
   * Returns the error whose text a message begins with; of several the one with the longest text.
   * Empty when there is none, or the message is null.
   *
   * @param texts gives the C library's text of each error, and null where it has none; the English
   *     texts are tried too
   */
  static Optional<Errno> in(String message, Function<Errno, String> texts) {
    return longest(message, String::startsWith, texts);
  }

  /**
   * Returns the error whose text stands in a message as a phrase of its own and not as a part of
   * some path; empty when there is none, or the message is null. This is the last resort for
   * exceptions of file systems that keep no number.
   */
  public static Optional<Errno> mentionedIn(String message) {
    return longest(message, Errno::hasPhrase, LocalTexts.TEXTS::get);
  }

  // "Too many open files in system" begins with another one's text.
  private static Optional<Errno> longest(String message, BiPredicate<String, String> says,
      Function<Errno, String> texts) {
    if (message == null) {
      return Optional.empty();
    }
    return Arrays.stream(values())
        .filter(errno -> says.test(message, errno.text)
            || (texts.apply(errno) != null && says.test(message, texts.apply(errno))))
        .max((a, b) -> Integer.compare(a.text.length(), b.text.length()));
  }

  private static boolean hasPhrase(String message, String text) {
    return Pattern.compile("(?<![\\w/.-])" + Pattern.quote(text) + "(?![\\w/-])")
        .matcher(message).find();
  }

  /** Returns the number that the kernel gives the error. */
  public int number() {
    return number;
  }

  /** Returns name, meaning and fix of the error, for a message. */
  String explained() {
    return explained(List.of());
  }

  /**
   * Returns name, meaning and fix of the error and the OSTs that it is about, for a message.
   *
   * @param osts those that hold the bytes of the file in question; none adds nothing
   */
  String explained(List<String> osts) {
    return name() + " (" + text + ")"
        + (osts.isEmpty() ? "" : "; its bytes are on " + String.join(", ", osts))
        + (hint.isEmpty() ? "" : "; " + hint);
  }

  /** Returns the C library's text of each error; the text may be null. */
  static Map<Errno, String> texts(IntFunction<String> strerror) {
    Map<Errno, String> texts = new EnumMap<>(Errno.class);
    for (Errno errno : values()) {
      texts.put(errno, strerror.apply(errno.number));
    }
    return texts;
  }

  // Apart, so that only a failure loads the C library.
  private static final class LocalTexts {
    private static final Map<Errno, String> TEXTS = texts(Libc::errorText);
  }
}
