package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The identity of the file that a name leads to: device and inode, with its type, owner, link count
 * and time of change. It asks for no size, so that a Lustre client answers without asking the OSTs
 * (a glimpse for each object).
 */
final class FileId {
  private static final int TYPE = 0170000;
  private static final int DIRECTORY = 0040000;
  private static final int REGULAR = 0100000;
  private static final int SYMLINK = 0120000;

  private final long device;
  private final long inode;
  private final int links;
  private final int mode;
  private final int owner;
  private final long changedNanos;

  FileId(long device, long inode, int links, int mode, int owner, long changedNanos) {
    this.device = device;
    this.inode = inode;
    this.links = links;
    this.mode = mode;
    this.owner = owner;
    this.changedNanos = changedNanos;
  }

  /**
   * Returns the file of a name; of a symbolic link, the link itself.
   *
   * @throws IOException {@link ErrnoException} or {@code NoSuchFileException} when nothing has the
   *     name
   */
  static FileId ofLink(Path file) throws IOException {
    return read(file, false);
  }

  /**
   * Returns the file of a name, or what a symbolic link leads to.
   *
   * @throws IOException {@link ErrnoException} or {@code NoSuchFileException} when there is none
   */
  static FileId of(Path file) throws IOException {
    return read(file, true);
  }

  /**
   * Returns the file of a name; of a symbolic link, the link itself. Empty when nothing has the
   * name.
   */
  static Optional<FileId> ifPresent(Path file) throws IOException {
    try {
      return Optional.of(ofLink(file));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (ErrnoException e) {
      if (e.is(Errno.ENOENT)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private static FileId read(Path file, boolean follow) throws IOException {
    try {
      return Libc.statx(file, follow);
    } catch (ErrnoException e) {
      if (!e.is(Errno.ENOSYS) && !e.is(Errno.EPERM)) {
        throw e;
      }
    }
    // A kernel before 4.11, a glibc before 2.28, or a sandbox that does not know the call.
    LinkOption[] options =
        follow ? new LinkOption[0] : new LinkOption[] {LinkOption.NOFOLLOW_LINKS};
    Map<String, Object> values = Files.readAttributes(file, "unix:dev,ino,nlink,mode,uid,ctime", options);
    return new FileId(device((Long) values.get("dev")), (Long) values.get("ino"),
        (Integer) values.get("nlink"), (Integer) values.get("mode"), (Integer) values.get("uid"),
        ((FileTime) values.get("ctime")).to(TimeUnit.NANOSECONDS));
  }

  /** Returns a device from its two numbers, as statx gives them. */
  static long device(int major, int minor) {
    return ((long) major << 32) | Integer.toUnsignedLong(minor);
  }

  /** Returns a device as {@link #device(int, int)} does, from the dev_t of glibc that stat gives. */
  static long device(long combined) {
    // gnu_dev_major and gnu_dev_minor of sys/sysmacros.h
    long major = ((combined >>> 8) & 0xfff) | ((combined >>> 32) & 0xfffff000L);
    long minor = (combined & 0xff) | ((combined >>> 12) & 0xffffff00L);
    return device((int) major, (int) minor);
  }

  /** Returns whether both are one file, by whatever names. */
  boolean isSame(FileId other) {
    return device == other.device && inode == other.inode;
  }

  /** Returns whether both lie on one file system. */
  boolean isOnDeviceOf(FileId other) {
    return device == other.device;
  }

  boolean isDirectory() {
    return (mode & TYPE) == DIRECTORY;
  }

  boolean isRegularFile() {
    return (mode & TYPE) == REGULAR;
  }

  /** Returns the inode's number on its device. */
  long inode() {
    return inode;
  }

  /**
   * Returns the time of the last change of data or metadata, in nanoseconds since the epoch; nobody
   * can set it back.
   */
  long changedNanos() {
    return changedNanos;
  }

  /** Returns how many names the file has; 0 once it was removed or replaced and is only open. */
  int links() {
    return links;
  }

  /** Returns the user id of the owner. */
  int owner() {
    return owner;
  }

  boolean isSymlink() {
    return (mode & TYPE) == SYMLINK;
  }

  /** Returns the permission bits of everybody: r 4, w 2, x 1. */
  int forOthers() {
    return mode & 07;
  }

  /** Returns whether somebody else than its owner may write it, by its mode. */
  boolean othersMayWrite() {
    return (mode & 022) != 0;
  }

  /** Returns the kind of file in words, with its article, for messages. */
  String kind() {
    switch (mode & TYPE) {
      case DIRECTORY:
        return "a directory";
      case SYMLINK:
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

  /** Returns the permission bits, with setuid, setgid and sticky. */
  int modeBits() {
    return mode & ~TYPE;
  }

  @Override
  public String toString() {
    return "device " + device + " inode " + inode;
  }
}
