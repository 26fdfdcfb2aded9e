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
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Removes directories with all that is in them, while other processes may remove from the same tree
 * or write into it. Each directory is opened by a handle from the one above it, and no link is
 * followed: a link that a user puts in a directory's place leads the removal nowhere else. Used by
 * one thread.
 */
public class TreeRemover {
  /** How often a directory is emptied into which somebody still writes. */
  private static final int ATTEMPTS = 5;
  /** Names of one directory held at once; a directory of any size takes no more memory. */
  private static final int BATCH = 1_000;
  /** Names held at once of all the levels; a level below them holds one at a time. */
  private static final int NAMES_HELD = 10_000;
  /** Characters of a path from which on no names are added to it: the kernel takes no longer ones from people. */
  private static final int LONGEST_SHOWN = 4096;
  /** Of the names to empty, the place of the one whose owner's entries are removed. */
  private static final int OF_OWNER = 1;
  private static final int NAMES_SHOWN = 8;

  private final Descriptors calls = new Descriptors();
  private final int deepest;
  private final boolean countsBytes;
  private Whose whose;
  private Path top;
  private String stranger;
  private int held;
  private long files;
  private long bytes;
  private long directories;

  /**
   * Makes a remover that counts bytes.
   *
   * @param deepest how many levels of directories below the emptied one are entered; each open
   *     level costs a descriptor
   */
  public TreeRemover(int deepest) {
    this(deepest, true);
  }

  /**
   * Makes a remover.
   *
   * @param deepest how many levels of directories below the emptied one are entered
   * @param countsBytes whether {@link #bytes} counts, for which each OST of each file is asked for
   *     the file's size
   */
  TreeRemover(int deepest, boolean countsBytes) {
    this.deepest = deepest;
    this.countsBytes = countsBytes;
  }

  /** The user and the file system whose entries are removed: others' stay, with the directories above them. */
  private static final class Whose {
    private final FileId directory;
    private final FileId root;

    Whose(FileId directory, FileId root) {
      this.directory = directory;
      this.root = root;
    }

    /** Returns the reason, in words, why an entry is not removed; null if it may be removed. */
    String whyNot(FileId found) {
      if (found.owner() != directory.owner()) {
        return "belongs to the user with id " + found.owner() + ", and the staging directory to "
            + directory.owner();
      }
      return found.isOnDeviceOf(root) ? null : "lies on another file system";
    }
  }

  /**
   * Removes everything in the directory {@code root/names...}, and leaves that directory itself.
   * Does nothing if it is not there. The second name is that of a user's directory, which nobody
   * else may write into: only entries that belong to its owner and lie on the root's file system
   * are entered and removed. {@link #stranger} tells what was left.
   *
   * @param names one name for each level below the root; the directories from the third on must
   *     belong to the owner of the second
   * @throws IOException when a name leads to a link, to something else than a directory or to
   *     another user's directory, when others may write into the second, or when an entry cannot be
   *     removed
   */
  public final void empty(Path root, List<String> names) throws IOException {
    try (Descriptor opened = calls.follow(root)) {
      whose = null;
      descend(opened, root, names, 0, opened.id());
    } catch (NoSuchFileException e) {
      return; // removed by its owner, or by another NodeManager
    } catch (ErrnoException e) {
      if (!isGone(e)) {
        throw e;
      }
    }
  }

  /**
   * Returns the first entry that {@link #empty} left, and the reason, in words; empty when it left
   * none. The entry is shown by at most eight names of its path below the emptied directory, in
   * ASCII.
   */
  public final Optional<String> stranger() {
    return Optional.ofNullable(stranger);
  }

  /** Returns how many entries other than directories have been removed so far. */
  public final long files() {
    return files;
  }

  /**
   * Returns how many bytes the files had that have been removed so far; a file whose OST is away
   * counts as 0, and so does every file if bytes are not counted.
   */
  public final long bytes() {
    return bytes;
  }

  /**
   * Returns whether this remover has removed anything so far, be it a directory or another entry.
   */
  public final boolean removedAny() {
    return files + directories > 0;
  }

  /**
   * Removes an entry of a directory, with everything in it if it is a directory itself. Of a
   * symbolic link the link is removed. Does nothing if the directory has no such entry.
   *
   * @param shown the entry's path, for messages
   * @throws IOException if the entry, or something in it, cannot be removed
   */
  final void remove(Descriptor parent, String name, Path shown) throws IOException {
    removeEntry(parent, Path.of(name), shown, 0);
  }

  /**
   * Called when a directory has been emptied and is about to be removed. Does nothing; a test
   * overrides it to write into the directory.
   */
  protected void emptied(Path directory) throws IOException {}

  private void descend(Descriptor parent, Path above, List<String> names, int at, FileId root)
      throws IOException {
    String name = single(names.get(at));
    Path shown = above.resolve(name);
    try (Descriptor directory = calls.entry(parent, name, shown)) {
      FileId found = directory.id();
      if (!found.isDirectory()) {
        throw new IOException(shown + " is " + found.kind() + ", not a directory");
      }
      if (at == OF_OWNER) {
        checkOwn(shown, found);
        whose = new Whose(found, root);
      }
      String why = whose == null ? null : whose.whyNot(found);
      if (why != null) {
        throw new IOException(shown + " " + why);
      }
      if (at < names.size() - 1) {
        descend(directory, shown, names, at + 1, root);
      } else {
        top = shown;
        removeEntries(directory, shown, 0);
      }
    }
  }

  // Whoever may write into it may have moved here what its owner has elsewhere.
  private static void checkOwn(Path shown, FileId found) throws IOException {
    if (found.othersMayWrite()) {
      throw new IOException(shown + ": others than its owner may write into it; chmod 700 mends it");
    }
  }

  /** Removes the entries of a directory; returns whether all that were listed are gone. */
  private boolean removeEntries(Descriptor directory, Path shown, int depth) throws IOException {
    // To remove entries while a directory is read may hide others from the reader: where it was not read whole before
    // the first removal, it is read again.
    for (int pass = 1; ; pass++) {
      long before = files + directories;
      Listing listing = new Listing();
      removeListed(directory, shown, depth, listing);
      if (listing.wasReadAtOnce || files + directories == before || pass == ATTEMPTS) {
        return !listing.somethingStays;
      }
    }
  }

  /** What one reading of a directory found. */
  private static final class Listing {
    private boolean wasReadAtOnce;
    private boolean somethingStays;
  }

  // Of this very directory: not even a FIFO that takes its name is opened.
  private void removeListed(Descriptor directory, Path shown, int depth, Listing listing)
      throws IOException {
    DirectoryStream<Path> stream = opened(directory, shown);
    try {
      Iterator<Path> entries = stream.iterator();
      List<Path> batch = batch(entries);
      listing.wasReadAtOnce = !entries.hasNext();
      if (listing.wasReadAtOnce) {
        stream.close();  // each level below would hold its descriptors
      }
      while (!batch.isEmpty()) {
        listing.somethingStays |= !removeBatch(directory, batch, shown, depth);
        batch = listing.wasReadAtOnce ? List.of() : batch(entries);
      }
    } catch (DirectoryIteratorException e) {
      throw named(e.getCause(), shown);
    } finally {
      stream.close();
    }
  }

  private boolean removeBatch(Descriptor directory, List<Path> names, Path shown, int depth)
      throws IOException {
    boolean allGone = true;
    held += names.size();
    try {
      for (Path name : names) {
        allGone &= removeEntry(directory, name, below(shown, name), depth);
      }
      return allGone;
    } finally {
      held -= names.size();
    }
  }

  @SuppressWarnings("StreamResourceLeak")  // the caller closes it, early where it can
  private static DirectoryStream<Path> opened(Descriptor directory, Path shown) throws IOException {
    try {
      return Files.newDirectoryStream(directory.path());
    } catch (FileSystemException e) {
      throw named(e, shown);
    }
  }

  private List<Path> batch(Iterator<Path> entries) {
    int most = Math.max(1, Math.min(BATCH, NAMES_HELD - held));
    List<Path> names = new ArrayList<>();
    while (names.size() < most && entries.hasNext()) {
      names.add(entries.next().getFileName());
    }
    return names;
  }

  private static Path below(Path shown, Path name) {
    return shown.toString().length() < LONGEST_SHOWN ? shown.resolve(name) : shown;
  }

  /** Removes one entry; returns whether nothing has its name now, and false when it was left. */
  private boolean removeEntry(Descriptor parent, Path name, Path shown, int depth)
      throws IOException {
    // What has the name may be exchanged between any two calls: then it is looked at again.
    for (int attempt = 1; ; attempt++) {
      try {
        return removeOnce(parent, name, shown, depth);
      } catch (NoSuchFileException e) {
        return true; // removed by somebody else
      } catch (DirectoryNotEmptyException e) {
        if (attempt == ATTEMPTS) {
          throw new IOException(
              shown + " was emptied " + attempt + " times, and somebody still writes into it", e);
        }
      } catch (ErrnoException e) {
        if (isGone(e)) {
          return true;
        }
        if (!wasExchanged(e)) {
          throw e;
        }
        if (attempt == ATTEMPTS) {
          throw new IOException(e.getMessage(), e); // not tried again for each directory above
        }
      }
    }
  }

  // Another client of Lustre removed it: the handle leads to nothing any more.
  private static boolean isGone(ErrnoException error) {
    return error.is(Errno.ENOENT) || error.is(Errno.ESTALE);
  }

  private boolean removeOnce(Descriptor parent, Path name, Path shown, int depth)
      throws IOException {
    FileId found;
    long size;
    try (Descriptor entry = calls.entry(parent, name, shown)) {
      found = entry.id();
      String why = whose == null ? null : whose.whyNot(found);
      if (why == null && whose != null && found.isDirectory() && depth == deepest) {
        why = "is deeper than " + deepest + " directories";
      }
      if (why != null) {
        stays(shown, why);
        return false;
      }
      size = countsBytes && found.isRegularFile() ? size(entry) : 0;
      if (found.isDirectory()) {
        if (depth == deepest) {
          throw new IOException(shown + " is more than " + deepest
              + " directories deep; remove what is in it first");
        }
        if (!removeEntries(entry, shown, depth + 1)) {
          return false;
        }
        emptied(shown);
      }
    }
    calls.remove(parent, name, found.isDirectory(), shown);
    if (found.isDirectory()) {
      directories++;
    } else {
      files++;
      bytes += size;
    }
    return true;
  }

  // Only the first is kept: a user can make any number.
  private void stays(Path shown, String why) {
    if (stranger == null) {
      Path way = top.relativize(shown);
      stranger = RawNames.escaped(way.subpath(0, Math.min(NAMES_SHOWN, way.getNameCount()))) + " " + why;
    }
  }

  // Of a file on an OST that is away nobody knows it; the file goes all the same.
  private static long size(Descriptor file) {
    try {
      return Files.size(file.path());
    } catch (IOException unknown) {
      return 0;
    }
  }

  private static boolean wasExchanged(ErrnoException error) {
    return error.is(Errno.ENOTDIR) || error.is(Errno.EISDIR);
  }

  // The JDK names a path of this process, which means nothing to people.
  private static IOException named(IOException error, Path shown) {
    if (error instanceof NoSuchFileException) {
      return error;
    }
    if (error instanceof AccessDeniedException) {
      FileSystemException denied = new AccessDeniedException(
          shown.toString(), null, ((AccessDeniedException) error).getReason());
      denied.initCause(error);
      return denied;
    }
    Optional<Errno> errno = IoErrors.errno(error);
    IOException named = errno.isPresent() ? new ErrnoException(shown, "list", errno.get())
        : new IOException(shown + ": list: " + error.getMessage());
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
