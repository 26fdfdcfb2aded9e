package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotLinkException;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Renames a file to a name that nothing has, where neither renameat2's flag nor a hard link can be
 * had: a symbolic link that leads nowhere takes the name first, which only one caller can do, and
 * the rename then replaces that link. Readers find nothing until the file is there. A process that
 * dies in between leaves the link, which keeps the name taken until somebody removes it.
 */
final class NameClaim {
  private NameClaim() {}

  /**
   * Renames {@code source} to {@code target}.
   *
   * @throws ErrnoException {@code EEXIST} when the target is taken, {@code ENOTDIR} for a directory
   */
  static void rename(Path source, Path target) throws IOException {
    String claim = PredictableNames.CLAIM + Long.toHexString(ThreadLocalRandom.current().nextLong());
    Libc.symlink(claim, target);
    try {
      if (!holds(target, claim)) {
        throw new ErrnoException(target, "rename from " + Descriptor.shown(source), Errno.EEXIST);
      }
      Libc.rename(source, target);
    } catch (IOException e) {
      if (holds(target, claim)) {
        Libc.unlink(target);
      }
      throw e;
    }
  }

  /** Returns whether a name is claimed by a rename that is running, or by one that died. */
  static boolean isOne(Path file) throws IOException {
    return text(file).startsWith(PredictableNames.CLAIM);
  }

  private static boolean holds(Path target, String claim) throws IOException {
    return text(target).equals(claim);
  }

  private static String text(Path file) throws IOException {
    try {
      return Files.isSymbolicLink(file) ? Files.readSymbolicLink(file).toString() : "";
    } catch (NotLinkException | java.nio.file.NoSuchFileException changedMeanwhile) {
      return "";
    }
  }
}
