package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Explains why a file that a listing showed cannot be opened: its name is not text. */
final class NameProblems {
  private final MountPaths paths;
  private final LinkGuard links;

  NameProblems(MountPaths paths, LinkGuard links) {
    this.paths = requireNonNull(paths, "paths");
    this.links = requireNonNull(links, "links");
  }

  /**
   * Throws if a name on the path is not text in its directory: the path then has a replacement
   * character in its place, and cannot be opened. Does nothing otherwise.
   *
   * @throws IOException that names the directory, the name's bytes and the fix; never one that says
   *     "not found", which callers take for an input that is not there
   */
  void explain(Path file) throws IOException {
    if (!RawNames.mayStandForAnother(file.toString())) {
      return;
    }
    for (Path at = file; !paths.isRoot(at) && at.getParent() != null; at = at.getParent()) {
      String name = String.valueOf(at.getFileName());
      if (RawNames.mayStandForAnother(name)) {
        explain(at.getParent(), name);
      }
    }
  }

  private void explain(Path directory, String name) throws IOException {
    try (Descriptor handle = links.object(directory, LinkGuard.Use.READ)) {
      for (Path entry : Directories.list(handle.path())) {
        Path found = entry.getFileName();
        if (name.equals(found.toString()) && !RawNames.isText(found)) {
          String escaped = RawNames.escaped(found);
          throw new IOException(LustreFileSystem.SCHEME + "://" + paths.within(directory)
              + ": the name '" + escaped + "' in it is not UTF-8, and Hadoop cannot open the file;"
              + " rename it (mv $'" + escaped + "' NAME)" + RawNames.orElse());
        }
      }
    } catch (NoSuchFileException gone) {
      return;
    }
  }
}
