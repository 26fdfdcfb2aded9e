package org.vas.filesystem;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A regular file that the owner of a directory made below it, opened without following a link
 * below that directory. Whatever else has the name is refused, and not opened: links, hard links,
 * FIFOs, sockets, devices, directories, and files of other users.
 *
 * <p>Owners are compared with one another and not with this process' user: where root is squashed,
 * or users are mapped, its files belong to another one.
 */
public final class OwnFile implements Closeable {
  private final Descriptor handle;

  private OwnFile(Descriptor handle) {
    this.handle = handle;
  }

  /**
   * Holds a file by a handle that neither reads nor writes it, after each name of its path was
   * checked.
   *
   * @param levels how many names at the end of the path are checked and not followed, the file's
   *     own included; the directory above them is the one whose owner counts
   * @throws PlantedException that names what is not a file of the directory's owner
   */
  public static OwnFile below(Path file, int levels) throws IOException {
    Path base = file;
    for (int level = 0; level < levels && base.getParent() != null; level++) {
      base = base.getParent();
    }
    try (Descriptor top = new Descriptors().follow(base)) {
      return below(new Descriptors(), top, base, base.relativize(file));
    }
  }

  static OwnFile below(Descriptors calls, Descriptor base, Path shownBase, Path names)
      throws IOException {
    int owner = base.id().owner();
    Path shown = shownBase;
    Descriptor at = calls.entry(base, ".", shown);
    for (int i = 0; i < names.getNameCount(); i++) {
      shown = shown.resolve(names.getName(i));
      try (Descriptor above = at) {
        at = calls.entry(above, names.getName(i).toString(), shown);
      }
      try {
        check(shown, at.id(), owner, i == names.getNameCount() - 1);
      } catch (IOException e) {
        at.close();
        throw e;
      }
    }
    return new OwnFile(at);
  }

  /**
   * Checks that an entry is a directory, and of the owner of the directory that it is in.
   *
   * @param shown the entry's path, for messages
   * @throws PlantedException that names the entry, if it is anything else
   */
  static void checkDirectory(Path shown, GuardedEntry entry) throws IOException {
    try (Descriptor object = entry.object()) {
      check(shown, object.id(), entry.directory().id().owner(), false);
    }
  }

  private static void check(Path shown, FileId found, int owner, boolean last)
      throws PlantedException {
    if (last ? !found.isRegularFile() : !found.isDirectory()) {
      throw new PlantedException(
          shown, "is " + found.kind() + ", not a " + (last ? "regular file" : "directory"));
    }
    if (found.owner() != owner) {
      throw new PlantedException(shown, "belongs to the user with id " + found.owner()
          + ", not to " + owner + " as the directory above");
    }
    if (last && found.links() != 1) {
      throw new PlantedException(shown, "has " + found.links() + " names (hard links), not one");
    }
  }

  /** Returns a path of this process that leads to this file until it is closed. */
  public Path path() {
    return handle.path();
  }

  @Override
  public void close() throws IOException {
    handle.close();
  }
}
