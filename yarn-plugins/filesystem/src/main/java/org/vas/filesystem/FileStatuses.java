package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.security.AccessControlException;

/**
 * Makes the statuses of files as Hadoop shows them: sizes, blocks, owners, and the links that are
 * followed.
 */
final class FileStatuses {
  private final MountPaths paths;
  private final LinkGuard links;
  private final LayoutCache layouts;
  private final BlockSize blockSize;

  FileStatuses(MountPaths paths, LinkGuard links, LayoutCache layouts, BlockSize blockSize) {
    this.paths = requireNonNull(paths, "paths");
    this.links = requireNonNull(links, "links");
    this.layouts = requireNonNull(layouts, "layouts");
    this.blockSize = requireNonNull(blockSize, "blockSize");
  }

  /** Returns the status of a file, or of what a symbolic link leads to. */
  FileStatus of(org.apache.hadoop.fs.Path shown, Path file) throws IOException {
    return of(shown, file, FileAttributes.of(file));
  }

  /** Returns the status of a symbolic link itself; its target is as stored. */
  FileStatus ofLink(org.apache.hadoop.fs.Path shown, Path file) throws IOException {
    return of(shown, file, FileAttributes.ofLink(file));
  }

  /**
   * Returns the statuses of a directory's entries, or of the file itself. Entries that vanish
   * meanwhile are left out; a link that dangles or is not followed is returned as a link.
   */
  List<FileStatus> list(org.apache.hadoop.fs.Path shown, Path file) throws IOException {
    FileAttributes attributes = FileAttributes.of(file);
    if (!attributes.isDirectory()) {
      return List.of(of(shown, file, attributes));
    }
    List<FileStatus> found = new ArrayList<>();
    for (Path entry : Directories.list(file)) {
      // Three arguments, so that a colon in the name does not become a scheme.
      org.apache.hadoop.fs.Path name = new org.apache.hadoop.fs.Path(
          null, null, String.valueOf(entry.getFileName()));
      ofEntry(new org.apache.hadoop.fs.Path(shown, name), entry).ifPresent(found::add);
    }
    return found;
  }

  private Optional<FileStatus> ofEntry(org.apache.hadoop.fs.Path shown, Path entry)
      throws IOException {
    try {
      FileAttributes its = FileAttributes.ofLink(entry);
      return Optional.of(its.isSymlink() ? linked(shown, entry, its) : of(shown, entry, its));
    } catch (NoSuchFileException vanished) {
      return Optional.empty();
    }
  }

  // A link that is not followed has the length of its text, and not 0: formats that leave empty
  // files out would leave out data without a word, where now to open it fails.
  private FileStatus linked(org.apache.hadoop.fs.Path shown, Path entry, FileAttributes its)
      throws IOException {
    try (Descriptor target = links.object(paths.local(shown), LinkGuard.Use.READ)) {
      return of(shown, target.path());
    } catch (NoSuchFileException dangling) {
      return of(shown, entry, its);
    } catch (AccessControlException refused) {
      links.refusedInListing(refused);
      FileStatus link = of(shown, entry, its);
      return new FileStatus(its.size(), false, 1, 0, link.getModificationTime(),
          link.getAccessTime(), link.getPermission(), link.getOwner(), link.getGroup(),
          link.getSymlink(), shown);
    }
  }

  private FileStatus of(org.apache.hadoop.fs.Path shown, Path file, FileAttributes its)
      throws IOException {
    boolean isData = its.isRegularFile();
    org.apache.hadoop.fs.Path target = its.isSymlink()
        ? paths.linkTarget(Files.readSymbolicLink(file)) : null;
    return new FileStatus(isData ? its.size() : 0, its.isDirectory(), 1,
        isData ? blockSize(file, its) : 0, its.modifiedMillis(), its.accessedMillis(),
        its.permission(), its.owner(), its.group(), target, shown);
  }

  private long blockSize(Path file, FileAttributes its) {
    return blockSize.isOneBlock(its.size())
        ? blockSize.normal()
        : layouts.layoutOf(file, its.id()).map(layout -> blockSize.of(layout, its.size()))
            .orElse(blockSize.normal());
  }
}
