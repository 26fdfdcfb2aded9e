package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens files below the mount by handles, and decides which symbolic links are followed.
 *
 * <p>HDFS has no links, and Hadoop's daemons rely on it: they open and delete by name, with their
 * own rights, in directories that users may write. So a link is followed only if
 * <ul>
 *   <li>it belongs to the user who reads, or to root; or
 *   <li>it belongs to the owner of what it leads to; or
 *   <li>the file is only read, and everybody may read it and enter every directory from the link on.
 * </ul>
 * and never out of the mount. With the key {@link LustreConf#LINKS} at {@code all} the kernel
 * follows them as anywhere.
 */
final class LinkGuard {
  private static final Logger LOG = LoggerFactory.getLogger(LinkGuard.class);
  private static final int MENTIONED = 1000;
  private static final int MAX_LINKS = 40;  // the kernel's own bound
  private static final String GUARDED = "guarded";
  private static final String ALL = "all";

  private final Descriptors calls;
  private final Path mount;
  private final boolean followsAll;
  private final int reader;
  private final Set<String> mentioned = ConcurrentHashMap.newKeySet();

  /** Names the use that a caller makes of a file: more links are followed to read than to change. */
  enum Use { READ, CHANGE }

  /**
   * Makes the guard of a mount, by the rule that {@link LustreConf#LINKS} has as its value.
   *
   * @throws IllegalArgumentException with one line that names the key and the fix
   */
  static LinkGuard configured(Path mount, Configuration conf) {
    String rule = LustreConf.LINKS.get(conf);
    if (!rule.equals(GUARDED) && !rule.equals(ALL)) {
      throw new IllegalArgumentException(LustreConf.LINKS.name() + ": '" + rule + "' is neither "
          + GUARDED + " nor " + ALL);
    }
    if (!Files.isDirectory(Descriptor.ALL)) {
      throw new IllegalArgumentException(Descriptor.ALL + ": is not there, and files are"
          + " opened through it; mount /proc on this machine");
    }
    return new LinkGuard(new Descriptors(), mount, rule.equals(ALL));
  }

  LinkGuard(Descriptors calls, Path mount, boolean followsAll) {
    this.calls = requireNonNull(calls, "calls");
    this.mount = requireNonNull(mount, "mount");
    this.followsAll = followsAll;
    this.reader = calls.user();
  }

  /**
   * Opens the file or directory that a path leads to.
   *
   * @throws java.nio.file.NoSuchFileException if it leads to none
   * @throws org.apache.hadoop.security.AccessControlException for a link that is not followed
   */
  Descriptor object(Path file, Use use) throws IOException {
    if (followsAll) {
      return calls.follow(file);
    }
    Descriptor found = direct(file);
    if (found != null) {
      return found;
    }
    try (GuardedEntry entry = target(file, use)) {
      return entry.object();
    }
  }

  /**
   * Holds a file below a directory by a handle, if it belongs to that directory's owner: see {@link
   * OwnFile}.
   *
   * @param shown the directory's path, for messages
   * @param file the file's path, which begins with {@code shown}
   * @throws PlantedException that names what is not a file of the directory's owner
   */
  OwnFile own(Descriptor directory, Path shown, Path file) throws IOException {
    return OwnFile.below(calls, directory, shown, shown.relativize(file));
  }

  /**
   * Opens what a path leads to without following its last name: a symbolic link there is opened
   * itself.
   */
  Descriptor unfollowed(Path file) throws IOException {
    return calls.unfollowed(file);
  }

  /**
   * Returns whether this process may have made a file: always as root, because where root is
   * squashed its files belong to another user.
   */
  boolean mayBeOwn(FileId file) {
    return followsAll || reader == 0 || file.owner() == reader;
  }

  /**
   * Returns the name that a path ends in, in its directory; a link in the last place is not
   * followed.
   *
   * @throws java.nio.file.NoSuchFileException if the directory is not there
   * @throws org.apache.hadoop.security.AccessControlException for a link that is not followed
   */
  GuardedEntry entry(Path file, Use use) throws IOException {
    Path parent = file.getParent();
    if (parent == null || file.equals(mount)) {
      return new GuardedEntry(calls, calls.follow(file), "", null, file);
    }
    return new GuardedEntry(calls, object(parent, use), String.valueOf(file.getFileName()), null, file);
  }

  /**
   * Returns the name at which a path ends once a link in the last place is followed, also where
   * nothing is there.
   *
   * @throws org.apache.hadoop.security.AccessControlException for a link that is not followed
   */
  GuardedEntry target(Path file, Use use) throws IOException {
    if (followsAll) {
      return entry(resolved(file), use);
    }
    try (LinkWalk walk = new LinkWalk(calls, mount, reader)) {
      return walk.walk(file, use);
    }
  }

  /** Logs, once for each link, that a listing shows a link because it is not followed. */
  void refusedInListing(IOException refused) {
    String message = String.valueOf(refused.getMessage());
    if (mentioned.size() < MENTIONED && mentioned.add(message)) {
      LOG.warn("{}", message);
    }
  }

  private static Path resolved(Path file) throws IOException {
    Path target = file;
    for (int links = 0; Files.isSymbolicLink(target); links++) {
      if (links == MAX_LINKS) {
        throw new FileSystemLoopException(file.toString());
      }
      // The kernel's own parent: a/.. is not always the directory that a stands in.
      target = target.toAbsolutePath().getParent().toRealPath()
          .resolve(Files.readSymbolicLink(target));
    }
    return target;
  }

  private Descriptor direct(Path file) throws IOException {
    try (Descriptor root = calls.follow(mount)) {
      return file.equals(mount) ? calls.entry(root, ".", file)
          : calls.beneath(root, mount.relativize(file), file);
    }
  }
}
