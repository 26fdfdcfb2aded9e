package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Refuses a place that others could exchange: who may write a directory without the sticky bit may
 * rename what is in it, and put a tree of their own there, which executors would read. The same rule
 * as sshd's StrictModes, but for the sticky bit; a list of access rights counts as its mask, which
 * the group's bits show.
 */
public final class WritableAbove {
  private static final int OF_OTHERS = 0022;
  private static final int STICKY = 01000;

  private WritableAbove() {}

  /**
   * Checks a directory and all above it; one that is not there is left to who makes it.
   *
   * @param key the key that names the place, for the message
   * @throws IOException that names the first directory that others may write, or one that cannot be
   *     looked at
   */
  public static void check(
      LustreFileSystem lustre, org.apache.hadoop.fs.Path directory, String key)
      throws IOException {
    Path local = lustre.operations().file(directory);
    if (Files.notExists(local)) {
      return;
    }
    for (Path each = local.toRealPath(); each != null; each = each.getParent()) {
      int mode = (Integer) Files.getAttribute(each, "unix:mode");
      if ((mode & OF_OTHERS) != 0 && (mode & STICKY) == 0) {
        throw new IOException(key + ": others may write " + each + ", and so could put a directory"
            + " of theirs in the place of map output: 'chmod +t' it, or name a place below a"
            + " directory that you alone may write");
      }
    }
  }
}
