package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/** Who owns a file, what kind it is and which one it is; no names of users are looked up. */
final class FileIdentity {
  private static final String NAMES = "unix:mode,uid,nlink,ino,dev,size";
  private static final int TYPE = 0170000;

  private final Map<String, Object> values;

  private FileIdentity(Map<String, Object> values) {
    this.values = values;
  }

  /** The file that a path leads to, links followed. */
  static FileIdentity of(Path file) throws IOException {
    return new FileIdentity(Files.readAttributes(file, NAMES));
  }

  /** The file itself, also where it is a symbolic link. */
  static FileIdentity ofLink(Path file) throws IOException {
    return new FileIdentity(Files.readAttributes(file, NAMES, LinkOption.NOFOLLOW_LINKS));
  }

  int owner() {
    return number("uid");
  }

  int links() {
    return number("nlink");
  }

  /** Bytes; of a regular file. */
  long size() {
    return (Long) values.get("size");
  }

  boolean isSymlink() {
    return type() == 0120000;
  }

  boolean isDirectory() {
    return type() == 0040000;
  }

  boolean isRegularFile() {
    return type() == 0100000;
  }

  /** All mode bits but the type. */
  int modeBits() {
    return number("mode") & ~TYPE;
  }

  /** What everybody may do with it: r 4, w 2, x 1. */
  int forOthers() {
    return number("mode") & 07;
  }

  boolean isSame(FileIdentity other) {
    return values.get("dev").equals(other.values.get("dev"))
        && values.get("ino").equals(other.values.get("ino"));
  }

  /** What it is, for messages. */
  String kind() {
    switch (type()) {
      case 0040000:
        return "a directory";
      case 0120000:
        return "a symbolic link";
      case 0010000:
        return "a FIFO";
      case 0140000:
        return "a socket";
      case 0020000:
      case 0060000:
        return "a device";
      default:
        return "a file";
    }
  }

  private int type() {
    return number("mode") & TYPE;
  }

  private int number(String name) {
    return ((Number) values.get(name)).intValue();
  }
}
