package org.vas.filesystem;

import java.util.Arrays;
import java.util.Optional;

/** The errors of Linux that a Lustre client gives, and what to do about each. */
enum Errno {
  EPERM(1, "Operation not permitted", "only the owner or root may do this"),
  ENOENT(2, "No such file or directory", ""),
  EIO(5, "Input/output error", "see dmesg here and on the OSS, and 'lfs check servers'"),
  EAGAIN(11, "Resource temporarily unavailable", ""),
  EACCES(13, "Permission denied", "check the permissions of the file and of its directories"),
  EEXIST(17, "File exists", ""),
  EXDEV(18, "Invalid cross-device link", "no rename leaves a project quota or a file system:"
      + " compare 'lfs project -d' of both directories, and what is mounted below the Lustre mount;"
      + " copy and delete instead"),
  ENOTDIR(20, "Not a directory", ""),
  EISDIR(21, "Is a directory", ""),
  EINVAL(22, "Invalid argument", ""),
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
      "a server evicted this client: see dmesg, and try again"),
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

  /** Which error it was, from the text that Java's own I/O gives in its stead. */
  static Optional<Errno> in(String message) {
    return Arrays.stream(values())
        .filter(errno -> message != null && message.startsWith(errno.text)).findFirst();
  }

  int number() {
    return number;
  }

  /** The name, what it means, and what to do. */
  String explained() {
    return name() + " (" + text + ")" + (hint.isEmpty() ? "" : "; " + hint);
  }
}
