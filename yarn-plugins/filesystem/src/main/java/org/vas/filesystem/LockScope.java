package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How far the locks of a mount hold. */
enum LockScope {
  /** Against every client (Lustre's {@code flock}), or there is but this machine. */
  CLUSTER,
  /** On this machine only: Lustre's {@code localflock}. */
  MACHINE,
  /** Nowhere: Lustre's {@code noflock}. */
  NONE;

  private static final Path MOUNTS = Path.of("/proc/self/mounts");
  private static final int TARGET = 1;
  private static final int TYPE = 2;
  private static final int OPTIONS = 3;

  /** Returns what the kernel says of the mount that a directory lies on. */
  static LockScope of(Path directory) throws IOException {
    return of(directory.toRealPath(), Files.readAllLines(MOUNTS));
  }

  /** As {@link #of(Path)}, from the lines of /proc/mounts; the last of one place is seen. */
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
