package org.vas.shuffle.node;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;

/**
 * Empties one directory below a root by directory handles, each opened from the one above without
 * following a link: what a user puts in a directory's place meanwhile leads nowhere.
 */
class TreeRemover {
  /** A job's directory has three levels; more than this is none of ours. */
  private static final int DEEPEST = 16;
  /** How often a directory is emptied into which somebody still writes. */
  private static final int ATTEMPTS = 5;

  private long files;
  private long bytes;
  private long directories;

  /**
   * Removes all that is in {@code root/names...}, if it is there, and leaves that directory. The
   * last two names must be directories of one owner.
   *
   * @throws IOException when a name is a link or no directory, or something cannot be removed
   */
  void empty(Path root, List<String> names) throws IOException {
    try (DirectoryStream<Path> top = Files.newDirectoryStream(root)) {
      descend(secure(top), names, null);
    } catch (NoSuchFileException e) {
      return; // removed by its owner, or by another NodeManager
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  long files() {
    return files;
  }

  long bytes() {
    return bytes;
  }

  boolean removedAny() {
    return files + directories > 0;
  }

  private void descend(SecureDirectoryStream<Path> parent, List<String> names,
      UserPrincipal parentOwner) throws IOException {
    Path name = single(names.get(0));
    PosixFileAttributes found = attributes(parent, name);
    if (!found.isDirectory()) {
      throw new IOException(name + " is not a directory");
    }
    boolean last = names.size() == 1;
    if (last && !found.owner().equals(parentOwner)) {
      throw new IOException(name + " belongs to " + found.owner() + ", not to " + parentOwner);
    }
    if (last) {
      removeEntries(parent, name, 0);
      return;
    }
    try (SecureDirectoryStream<Path> inside = open(parent, name)) {
      descend(inside, names.subList(1, names.size()), found.owner());
    }
  }

  private void removeDirectory(SecureDirectoryStream<Path> parent, Path name, int depth)
      throws IOException {
    if (depth > DEEPEST) {
      throw new IOException(name + " is deeper than any shuffle directory");
    }
    for (int attempt = 1; ; attempt++) {
      removeEntries(parent, name, depth);
      emptied(name);
      try {
        parent.deleteDirectory(name);
        directories++;
        return;
      } catch (DirectoryNotEmptyException e) {
        if (attempt == ATTEMPTS) {
          throw new IOException(
              name + " was emptied " + attempt + " times, and somebody still writes into it", e);
        }
      }
    }
  }

  private void removeEntries(SecureDirectoryStream<Path> parent, Path name, int depth)
      throws IOException {
    try (SecureDirectoryStream<Path> inside = open(parent, name)) {
      for (Path entry : inside) {
        removeEntry(inside, entry.getFileName(), depth);
      }
    }
  }

  /** A directory is about to be removed; here tests write into it. */
  void emptied(Path name) throws IOException {}

  // Another NodeManager may be removing the same tree.
  private void removeEntry(SecureDirectoryStream<Path> parent, Path name, int depth)
      throws IOException {
    try {
      PosixFileAttributes found = attributes(parent, name);
      if (found.isDirectory()) {
        removeDirectory(parent, name, depth + 1);
      } else {
        parent.deleteFile(name);
        files++;
        bytes += found.isRegularFile() ? found.size() : 0;
      }
    } catch (NoSuchFileException e) {
      return;
    }
  }

  private static PosixFileAttributes attributes(SecureDirectoryStream<Path> parent, Path name)
      throws IOException {
    return parent.getFileAttributeView(
        name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS).readAttributes();
  }

  private static SecureDirectoryStream<Path> open(SecureDirectoryStream<Path> parent, Path name)
      throws IOException {
    return parent.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS);
  }

  private static SecureDirectoryStream<Path> secure(DirectoryStream<Path> stream)
      throws IOException {
    if (stream instanceof SecureDirectoryStream) {
      return (SecureDirectoryStream<Path>) stream;
    }
    throw new IOException("this JVM has no directory handles");
  }

  private static Path single(String name) throws IOException {
    Path path = Path.of(name);
    if (path.isAbsolute() || path.getNameCount() != 1 || name.isEmpty() || name.equals("..")
        || name.equals(".")) {
      throw new IOException("'" + name + "' is not the name of a directory");
    }
    return path;
  }
}
