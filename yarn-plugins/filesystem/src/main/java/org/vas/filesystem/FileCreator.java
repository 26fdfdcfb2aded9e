package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.layout.LayoutRequest;

/**
 * Makes new files with their layout, and replaces existing ones.
 *
 * <p>An existing file is not truncated: that would keep its old layout, and take the bytes away
 * from whoever is reading them. A new file is made beside the old one and renamed over it once it
 * has its layout and is open, before its first byte: the name always leads to the old file or to
 * the new one, also when this process dies (a file {@code .vas-create-*} may then be left over).
 * Readers of the old file keep it, as HDFS's do until their leases end.
 */
final class FileCreator {
  private static final Logger LOG = LoggerFactory.getLogger(FileCreator.class);
  private static final int OWNER_MAY_READ_AND_WRITE = 0600;

  private final LustreFiles files;
  private final LinkGuard links;
  private final WriterLocks locks;
  private final boolean layoutRequired;

  FileCreator(LustreFiles files, LinkGuard links, WriterLocks locks, boolean layoutRequired) {
    this.files = requireNonNull(files, "files");
    this.links = requireNonNull(links, "links");
    this.locks = requireNonNull(locks, "locks");
    this.layoutRequired = layoutRequired;
  }

  /**
   * Makes an empty file and opens it for writing.
   *
   * @param mode the exact permission bits: no umask is applied to them
   * @param layouts the layouts to try in order until Lustre takes one; without any the directory
   *     decides
   * @param locked whether to keep appends away until the file is closed
   * @param target opens what the name leads to, for when it is a symbolic link
   * @throws ErrnoException {@code EEXIST} if the file is there and {@code overwrite} is false
   * @throws FileAlreadyExistsException if the file is a directory and {@code overwrite} is true
   * @throws PlantedException if another has put something else in the new file's place
   */
  OpenFile create(Path file, int mode, boolean overwrite, List<LayoutRequest> layouts,
      boolean locked, LinkTarget target) throws IOException {
    try {
      return createNew(file, mode, layouts, locked);
    } catch (ErrnoException e) {
      if (!e.is(Errno.EEXIST) || !overwrite) {
        throw e;
      }
    }
    if (FileId.ifPresent(file).filter(FileId::isSymlink).isEmpty()) {
      return replace(file, mode, layouts, locked);
    }
    // POSIX: to write to a symbolic link is to write to what it leads to, present or not.
    try (GuardedEntry entry = target.open()) {
      return replace(entry.path(), mode, layouts, locked);
    }
  }

  /** Opens the name that a symbolic link leads to. */
  @FunctionalInterface
  interface LinkTarget {
    GuardedEntry open() throws IOException;
  }

  private OpenFile replace(Path file, int mode, List<LayoutRequest> layouts, boolean locked)
      throws IOException {
    if (FileId.ifPresent(file).filter(FileId::isDirectory).isPresent()) {
      throw new FileAlreadyExistsException(Descriptor.shown(file).toString());
    }
    Optional<Descriptor> old = locked ? locks.replacing(file) : Optional.empty();
    try {
      return replaceBy(file, file.resolveSibling(
          PredictableNames.replacement(ThreadLocalRandom.current().nextLong())),
          mode, layouts, locked);
    } finally {
      if (old.isPresent()) {
        old.get().close();
      }
    }
  }

  private OpenFile replaceBy(Path file, Path fresh, int mode, List<LayoutRequest> layouts,
      boolean locked) throws IOException {
    OpenFile open = createNew(fresh, mode, layouts, locked);
    try {
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
      return open;
    } catch (IOException e) {
      try (open) {
        Directories.remove(fresh);  // Its random name is nobody else's.
      } catch (IOException left) {
        e.addSuppressed(left);
      }
      throw e;
    }
  }

  private OpenFile createNew(Path file, int mode, List<LayoutRequest> layouts, boolean locked)
      throws IOException {
    // Reading the layout back and opening both need what the final mode may not allow.
    int initial = mode | OWNER_MAY_READ_AND_WRITE;
    FileId made = layouts.isEmpty()
        ? files.createPlain(file, initial) : createWithFirst(file, initial, layouts);
    try (Descriptor handle = links.unfollowed(file)) {
      checkOurs(file, handle, made);
      return opened(file, handle, made, mode, locked);
    } catch (PlantedException planted) {
      throw planted;  // not ours to remove
    } catch (IOException e) {
      LustreFiles.remove(file, made);
      throw e;
    }
  }

  // Who may write the directory may have put something in the new file's place meanwhile.
  private void checkOurs(Path file, Descriptor handle, FileId made) throws IOException {
    FileId found = handle.id();
    boolean mayBeMade = found.isRegularFile() && found.links() == 1 && links.mayBeOwn(found);
    if (mayBeMade && !found.isSame(made)) {
      throw new IOException(Descriptor.shown(file)
          + ": replaced by another writer while it was made; let one writer have it");
    }
    if (!mayBeMade || isFilledByOthers(file, handle)) {
      throw new PlantedException(Descriptor.shown(file), "was just made, and is "
          + found.kind() + " of the user with id " + found.owner() + " now");
    }
  }

  // A size is a question to each OST of the file: only where somebody may have moved one in.
  private boolean isFilledByOthers(Path file, Descriptor handle) throws IOException {
    FileId directory = FileId.of(requireNonNull(file.getParent()));
    return (directory.othersMayWrite() || !links.mayBeOwn(directory))
        && Files.size(handle.path()) != 0;
  }

  private FileId createWithFirst(Path file, int mode, List<LayoutRequest> layouts)
      throws IOException {
    int last = layouts.size() - 1;
    for (LayoutRequest preferred : layouts.subList(0, last)) {
      try {
        return files.create(file, mode, preferred, layoutRequired);
      } catch (LayoutRefusedException e) {
        LOG.warn("{}; it gets {} instead", e.getMessage(), layouts.get(last));
      }
    }
    return files.create(file, mode, layouts.get(last), layoutRequired);
  }

  // By its handle: the name may be another writer's by now, and its file must stay as it is.
  private OpenFile opened(Path file, Descriptor handle, FileId made, int mode, boolean locked)
      throws IOException {
    Descriptor open = Descriptor.open(handle.path(), Descriptor.WRITE);
    try {
      if (locked) {
        locks.share(file, open);
      }
      return writable(open, mode, made);
    } catch (IOException e) {
      open.close();
      throw e;
    }
  }

  // Opened before the mode is set, which may not allow it.
  private static OpenFile writable(Descriptor open, int mode, FileId made) throws IOException {
    OpenFile file = OpenFile.holding(open);
    try {
      Modes.ensure(open.path(), mode, made.modeBits());
      return file;
    } catch (IOException e) {
      try (file) {
        throw e;
      }
    }
  }
}
