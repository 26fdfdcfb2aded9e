package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.Principal;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.permission.FsPermission;

/** Holds what one stat(2) answers about a file, size and times included. */
final class FileAttributes {
  private static final String NAMES =
      "unix:mode,dev,ino,nlink,uid,size,ctime,lastModifiedTime,lastAccessTime,owner,group";
  private static final int TYPE = 0170000;
  private static final int DIRECTORY = 0040000;
  private static final int SYMLINK = 0120000;
  private static final int REGULAR = 0100000;
  // FsPermission has a sticky bit, and neither setuid nor setgid.
  private static final int PERMISSION = 01777;

  private final Map<String, Object> values;

  private FileAttributes(Map<String, Object> values) {
    this.values = values;
  }

  /**
   * Reads the attributes of a file, or of what a symbolic link leads to.
   *
   * @throws IOException of java.nio: {@code NoSuchFileException} when there is none
   */
  static FileAttributes of(Path file) throws IOException {
    return new FileAttributes(Files.readAttributes(file, NAMES));
  }

  /**
   * Reads the attributes of a name itself, where it may be a symbolic link.
   *
   * @throws IOException of java.nio: {@code NoSuchFileException} when nothing has the name
   */
  static FileAttributes ofLink(Path file) throws IOException {
    return new FileAttributes(Files.readAttributes(file, NAMES, LinkOption.NOFOLLOW_LINKS));
  }

  boolean isDirectory() {
    return type() == DIRECTORY;
  }

  boolean isSymlink() {
    return type() == SYMLINK;
  }

  boolean isRegularFile() {
    return type() == REGULAR;
  }

  long size() {
    return (Long) values.get("size");
  }

  long modifiedMillis() {
    return ((FileTime) values.get("lastModifiedTime")).toMillis();
  }

  long accessedMillis() {
    return ((FileTime) values.get("lastAccessTime")).toMillis();
  }

  /** Returns the identity of the file: device, inode, type and owner. */
  FileId id() {
    return new FileId(FileId.device((Long) values.get("dev")), (Long) values.get("ino"),
        (Integer) values.get("nlink"), mode(), (Integer) values.get("uid"), ((FileTime) values.get("ctime")).to(TimeUnit.NANOSECONDS));
  }

  FsPermission permission() {
    return new FsPermission((short) (mode() & PERMISSION));
  }

  String owner() {
    return ((Principal) values.get("owner")).getName();
  }

  String group() {
    return ((Principal) values.get("group")).getName();
  }

  private int type() {
    return mode() & TYPE;
  }

  private int mode() {
    return (Integer) values.get("mode");
  }
}
