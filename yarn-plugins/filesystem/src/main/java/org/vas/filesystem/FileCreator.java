package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemLoopException;
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
 * <p>To overwrite is not to truncate: that would keep the old layout, and pull the bytes away from
 * whoever is reading them. A new file is made beside the old one and renamed over it once it has
 * its layout and is open, before its first byte: the name always leads to the old file or to the
 * new one, also when this process dies (a file {@code .vas-create-*} may then be left over).
 * Readers of the old file keep it, as HDFS's do until their leases end.
 */
final class FileCreator {
  private static final Logger LOG = LoggerFactory.getLogger(FileCreator.class);
  private static final int MAX_LINKS = 40;  // the kernel's own bound

  private static final int OWNER_MAY_READ_AND_WRITE = 0600;

  private final LustreFiles files;
  private final WriterLocks locks;
  private final boolean layoutRequired;

  FileCreator(LustreFiles files, WriterLocks locks, boolean layoutRequired) {
    this.files = requireNonNull(files, "files");
    this.locks = requireNonNull(locks, "locks");
    this.layoutRequired = layoutRequired;
  }

  /**
   * An open, empty file.
   *
   * @param mode the exact permission bits: no umask is applied to them
   * @param layouts what to set: the first that Lustre does not refuse; none leaves it to the
   *     directory
   * @param locked whether to keep appends away until it is closed
   */
  OpenFile create(Path file, int mode, boolean overwrite, List<LayoutRequest> layouts,
      boolean locked) throws IOException {
    try {
      return createNew(file, mode, layouts, locked);
    } catch (ErrnoException e) {
      if (!e.is(Errno.EEXIST) || !overwrite) {
        throw e;
      }
    }
    return replace(resolved(file), mode, layouts, locked);
  }

  private OpenFile replace(Path file, int mode, List<LayoutRequest> layouts, boolean locked)
      throws IOException {
    if (Files.isDirectory(file)) {
      throw new FileAlreadyExistsException(file.toString());
    }
    Optional<Descriptor> old = locked ? locks.replacing(file) : Optional.empty();
    try {
      return replaceBy(file, file.resolveSibling(
          ".vas-create-" + Long.toHexString(ThreadLocalRandom.current().nextLong())),
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
        Files.deleteIfExists(fresh);  // Its random name is nobody else's.
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
    try {
      return opened(file, made, mode, locked);
    } catch (IOException e) {
      LustreFiles.remove(file, made);
      throw e;
    }
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

  // By its descriptor: the name may be another writer's by now, and its file must stay as it is.
  private OpenFile opened(Path file, FileId made, int mode, boolean locked) throws IOException {
    Descriptor open = Descriptor.open(file, Descriptor.WRITE | Descriptor.NO_FOLLOW);
    try {
      if (!open.id().isSame(made)) {
        throw new IOException(
            file + ": replaced by another writer while it was made; let one writer have it");
      }
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

  // POSIX: to write to a symbolic link is to write to what it leads to, present or not.
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
}
