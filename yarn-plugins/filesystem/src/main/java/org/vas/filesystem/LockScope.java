package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The processes against which a flock(2) lock on a file of a mount holds. */
enum LockScope {
  /**
   * Locks hold against every client: Lustre is mounted with {@code flock}, or the mount is not
   * Lustre.
   */
  CLUSTER,
  /**
   * Locks hold against processes of this machine only: Lustre is mounted with {@code localflock}.
   */
  MACHINE,
  /**
   * Locks hold against nobody: Lustre is mounted with {@code noflock}, or without any of the three.
   */
  NONE;

  private static final Path MOUNTS = Path.of("/proc/self/mounts");
  private static final int TARGET = 1;
  private static final int TYPE = 2;
  private static final int OPTIONS = 3;

  /**
   * Returns how far locks hold on the mount that a directory lies on, as the kernel lists it.
   *
   * @param directory an existing directory; symbolic links are followed
   * @throws IOException if the directory is not there, or /proc/self/mounts cannot be read
   */
  static LockScope of(Path directory) throws IOException {
    return of(directory.toRealPath(), Files.readAllLines(MOUNTS));
  }

  /**
   * Returns how far locks hold on the mount that a directory lies on, by a given list of mounts.
   *
   * @param directory an absolute path without symbolic links
   * @param mounts the lines of /proc/mounts; of several mounts on one directory the last line
   *     counts, because the kernel shows that mount
   * @return {@link #CLUSTER} also when no line is about the directory
   */
  static LockScope of(Path directory, List<String> mounts) {
    String[] nearest = {};
    int depth = -1;
    for (String line : mounts) {
      String[] words = line.split(" ", -1);
      Path target = words.length > OPTIONS ? Path.of(decoded(words[TARGET])) : Path.of("");
      if (directory.startsWith(target) && target.getNameCount() >= depth) {
        nearest = words;
        depth = target.getNameCount();
      }
    }
    return nearest.length == 0 || !nearest[TYPE].equals("lustre")
        ? CLUSTER : ofLustre(List.of(nearest[OPTIONS].split(",", -1)));
  }

  // A client without the option has no locks: the default was noflock before Lustre 2.13.
  private static LockScope ofLustre(List<String> options) {
    if (options.contains("flock")) {
      return CLUSTER;
    }
    return options.contains("localflock") ? MACHINE : NONE;
  }

  // The kernel writes blanks, tabs, newlines and backslashes of names as octal numbers.
  private static String decoded(String name) {
    return name.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n")
        .replace("\\134", "\\");
  }
}
