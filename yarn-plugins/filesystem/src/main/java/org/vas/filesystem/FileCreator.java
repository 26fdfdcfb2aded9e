package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
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
  private static final int OWNER_MAY_READ_AND_WRITE = 0600;

  private final LustreFiles files;
  private final LinkGuard links;
  private final boolean layoutRequired;

  FileCreator(LustreFiles files, LinkGuard links, boolean layoutRequired) {
    this.files = requireNonNull(files, "files");
    this.links = requireNonNull(links, "links");
    this.layoutRequired = layoutRequired;
  }

  /**
   * An open, empty file.
   *
   * @param mode the exact permission bits: no umask is applied to them
   * @param layouts what to set: the first that Lustre does not refuse; none leaves it to the
   *     directory
   * @param target opens what the name leads to, for when it is a symbolic link
   */
  OpenFile create(Path file, int mode, boolean overwrite, List<LayoutRequest> layouts,
      LinkTarget target) throws IOException {
    try {
      return createNew(file, mode, layouts);
    } catch (ErrnoException e) {
      if (!e.is(Errno.EEXIST) || !overwrite) {
        throw e;
      }
    }
    if (!Files.isSymbolicLink(file)) {
      return replace(file, mode, layouts);
    }
    // POSIX: to write to a symbolic link is to write to what it leads to, present or not.
    try (GuardedEntry entry = target.open()) {
      return replace(entry.path(), mode, layouts);
    }
  }

  /** Opens the name that a symbolic link leads to. */
  @FunctionalInterface
  interface LinkTarget {
    GuardedEntry open() throws IOException;
  }

  private OpenFile replace(Path file, int mode, List<LayoutRequest> layouts)
      throws IOException {
    if (Files.isDirectory(file)) {
      throw new FileAlreadyExistsException(file.toString());
    }
    Path fresh = file.resolveSibling(
        PredictableNames.replacement(ThreadLocalRandom.current().nextLong()));
    OpenFile open = createNew(fresh, mode, layouts);
    try {
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
      return open;
    } catch (IOException e) {
      abandon(open, fresh);
      throw e;
    }
  }

  private OpenFile createNew(Path file, int mode, List<LayoutRequest> layouts)
      throws IOException {
    // Reading the layout back and opening both need what the final mode may not allow.
    int initial = mode | OWNER_MAY_READ_AND_WRITE;
    if (layouts.isEmpty()) {
      files.createPlain(file, initial);
    } else {
      createWithFirst(file, initial, layouts);
    }
    OpenFile open = null;
    try (PathHandle made = links.unfollowed(file)) {
      int now = checkOurs(file, made.identity());
      open = OpenFile.of(made.path(), StandardOpenOption.WRITE);
      Modes.ensure(made.path(), now, mode);
      return open;
    } catch (PlantedException planted) {
      throw planted;  // not ours to remove
    } catch (IOException e) {
      abandon(open, file);
      throw e;
    }
  }

  // Who may write the directory may have put something in the new file's place meanwhile.
  private int checkOurs(Path file, FileIdentity found) throws PlantedException {
    if (!found.isRegularFile() || found.links() != 1 || found.size() != 0
        || !links.mayBeOwn(found)) {
      throw new PlantedException(PathHandle.shown(file), "was just made, and is "
          + found.kind() + " of the user with id " + found.owner() + " now");
    }
    return found.modeBits();
  }

  private void createWithFirst(Path file, int mode, List<LayoutRequest> layouts)
      throws IOException {
    int last = layouts.size() - 1;
    for (LayoutRequest preferred : layouts.subList(0, last)) {
      try {
        files.createWithLayout(file, mode, preferred, layoutRequired);
        return;
      } catch (LayoutRefusedException e) {
        LOG.warn("{}; it gets {} instead", e.getMessage(), layouts.get(last));
      }
    }
    files.createWithLayout(file, mode, layouts.get(last), layoutRequired);
  }

  private static void abandon(OpenFile open, Path file) throws IOException {
    try (open) {
      Files.deleteIfExists(file);
    }
  }
}
