package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Removes directories with all they hold by handles, each opened from the one above without
 * following a link: what a user puts in a directory's place meanwhile leads nowhere. Others may
 * remove from the same tree, or write into it. Used by one thread.
 */
public class TreeRemover {
  /** How often a directory is emptied into which somebody still writes. */
  private static final int ATTEMPTS = 5;
  /** Names held at once; a directory of any size takes no more memory. */
  private static final int BATCH = 10_000;

  private final Descriptors calls = new Descriptors();
  private final int deepest;
  private final boolean countsBytes;
  private long files;
  private long bytes;
  private long directories;

  /** @param deepest levels below the directory that is emptied; each costs a descriptor */
  public TreeRemover(int deepest) {
    this(deepest, true);
  }

  /** @param countsBytes whether to ask for sizes, which is a question to each OST of each file */
  TreeRemover(int deepest, boolean countsBytes) {
    this.deepest = deepest;
    this.countsBytes = countsBytes;
  }

  /**
   * Removes all that is in {@code root/names...}, if it is there, and leaves that directory. The
   * last two names must be directories of one owner.
   *
   * @throws IOException when a name is a link or no directory, or something cannot be removed
   */
  public final void empty(Path root, List<String> names) throws IOException {
    try (PathHandle top = calls.follow(root)) {
      descend(top, root, names, null);
    } catch (NoSuchFileException e) {
      return; // removed by its owner, or by another NodeManager
    }
  }

  /** Files, links and the like removed so far. */
  public final long files() {
    return files;
  }

  /** Bytes in the files removed so far. */
  public final long bytes() {
    return bytes;
  }

  /** Whether something was removed. */
  public final boolean removedAny() {
    return files + directories > 0;
  }

  /**
   * Removes what has a name in a directory, a link itself, and nothing where nothing has it.
   *
   * @param shown where it is, for messages
   */
  final void remove(PathHandle parent, String name, Path shown) throws IOException {
    removeEntry(parent, Path.of(name), shown, 0);
  }

  /** A directory was emptied and is about to be removed; here tests write into it. */
  protected void emptied(Path directory) throws IOException {}

  private void descend(PathHandle parent, Path above, List<String> names, FileId owner)
      throws IOException {
    String name = single(names.get(0));
    Path shown = above.resolve(name);
    try (PathHandle directory = calls.entry(parent, name, shown)) {
      FileId found = directory.identity();
      if (!found.isDirectory()) {
        throw new IOException(shown + " is " + found.kind() + ", not a directory");
      }
      if (names.size() > 1) {
        descend(directory, shown, names.subList(1, names.size()), found);
      } else if (owner != null && found.owner() != owner.owner()) {
        throw new IOException(shown + " belongs to the user with id " + found.owner()
            + ", and the directory above to " + owner.owner());
      } else {
        removeEntries(directory, shown, 0);
      }
    }
  }

  private void removeEntries(PathHandle directory, Path shown, int depth) throws IOException {
    List<Path> batch;
    do {
      batch = entries(directory, shown);
      for (Path entry : batch) {
        Path name = entry.getFileName();
        removeEntry(directory, name, shown.resolve(name), depth);
      }
    } while (batch.size() == BATCH);
  }

  // Of this very directory: not even a FIFO that takes its name is opened.
  private static List<Path> entries(PathHandle directory, Path shown) throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory.path())) {
      for (Path entry : stream) {
        found.add(entry);
        if (found.size() == BATCH) {
          break;
        }
      }
      return found;
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    } catch (FileSystemException e) {
      throw shownAs(e, shown);
    }
  }

  // What has the name may be exchanged between any two calls: then it is looked at again.
  private void removeEntry(PathHandle parent, Path name, Path shown, int depth)
      throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        removeOnce(parent, name, shown, depth);
        return;
      } catch (NoSuchFileException e) {
        return; // removed by somebody else
      } catch (DirectoryNotEmptyException e) {
        if (attempt == ATTEMPTS) {
          throw new IOException(
              shown + " was emptied " + attempt + " times, and somebody still writes into it", e);
        }
      } catch (FileSystemException e) {
        if (attempt == ATTEMPTS || !wasExchanged(e)) {
          throw shownAs(e, shown);
        }
      }
    }
  }

  private void removeOnce(PathHandle parent, Path name, Path shown, int depth)
      throws IOException {
    FileId found;
    long size;
    try (PathHandle entry = calls.entry(parent, name, shown)) {
      found = entry.identity();
      size = countsBytes && found.isRegularFile() ? size(entry) : 0;
      if (found.isDirectory()) {
        if (depth == deepest) {
          throw new IOException(shown + " is more than " + deepest
              + " directories deep; remove what is in it first");
        }
        removeEntries(entry, shown, depth + 1);
        emptied(shown);
      }
    }
    Directories.remove(parent.path().resolve(name));
    if (found.isDirectory()) {
      directories++;
    } else {
      files++;
      bytes += size;
    }
  }

  // Of a file on an OST that is away nobody knows it; the file goes all the same.
  private static long size(PathHandle file) {
    try {
      return Files.size(file.path());
    } catch (IOException unknown) {
      return 0;
    }
  }

  private static boolean wasExchanged(FileSystemException error) {
    return Errno.in(error.getReason())
        .filter(errno -> errno == Errno.ENOTDIR || errno == Errno.EISDIR).isPresent();
  }

  private static FileSystemException shownAs(FileSystemException error, Path shown) {
    FileSystemException named = error instanceof AccessDeniedException
        ? new AccessDeniedException(shown.toString(), null, error.getReason())
        : new FileSystemException(shown.toString(), null, error.getReason());
    named.initCause(error);
    return named;
  }

  private static String single(String name) throws IOException {
    Path path = Path.of(name);
    if (path.isAbsolute() || path.getNameCount() != 1 || name.isEmpty() || name.equals("..")
        || name.equals(".")) {
      throw new IOException("'" + name + "' is not the name of a directory");
    }
    return name;
  }
}
