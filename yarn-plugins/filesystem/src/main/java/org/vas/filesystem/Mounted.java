package org.vas.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem.Statistics;
import org.apache.hadoop.fs.FsStatus;
import org.vas.layout.StripeLayout;

/** The mounted Lustre in this process: files by their local paths, with their layouts. */
final class Mounted {
  private static final int OWNER_MAY_WRITE_AND_ENTER = 0300;

  private final ClientCalls calls;
  private final LocalSite site;
  private final MountPaths paths;
  private final LinkGuard links;
  private final LayoutPolicy policy;
  private final FileCreator creator;
  private final OstFaults faults;
  private final WriterLocks locks;
  private final Pattern lazyPaths;
  private final StripedDirectories striped;
  private final LayoutCache layouts;
  private final BlockSize blockSize;
  private final FileStatuses statuses;
  private final BlockLocator locator;
  private final Locations locations;
  private final int bufferSize;

  private Mounted(Configuration conf, Map<String, String> environment, ClientCalls calls)
      throws IOException {
    LustreFiles files = new LustreFiles(calls);
    this.calls = calls;
    this.site = LocalSite.load(conf, environment);
    this.paths = new MountPaths(site.mount());
    this.links = LinkGuard.configured(site.mount(), conf);
    this.policy = new LayoutPolicy(conf, site::localOsts);
    this.faults = new OstFaults(files);
    this.locks =
        new WriterLocks(LustreConf.ONE_WRITER.get(conf), () -> LockScope.of(site.mount()));
    this.lazyPaths = LayoutPolicy.pattern(LustreConf.LAZY_PATHS, conf);
    this.creator = new FileCreator(files, links, locks, LustreConf.LAYOUT_REQUIRED.get(conf));
    this.striped = new StripedDirectories("lfs",
        LayoutPolicy.pattern(LustreConf.STRIPED_DIRS, conf), LustreConf.MDT_COUNT.get(conf), links);
    this.layouts = new LayoutCache(files, LustreConf.LAYOUT_CACHE.get(conf),
        LustreConf.LAYOUT_TTL.get(conf), System::nanoTime);
    this.blockSize = new BlockSize(conf);
    this.statuses = new FileStatuses(paths, links, layouts, blockSize);
    this.locator = new BlockLocator(site::guestOf);
    this.locations = Locations.of(conf);
    this.bufferSize = Math.toIntExact(LustreConf.BUFFER_SIZE.get(conf));
  }

  /**
   * Finds the mount that the configuration names, and reads the site description.
   *
   * @throws IOException one line with the key and the fix, also where a value is not valid
   */
  static Mounted configured(
      Configuration conf, Map<String, String> environment, ClientCalls calls) throws IOException {
    try {
      return new Mounted(conf, environment, calls);
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  MountPaths paths() {
    return paths;
  }

  OstFaults faults() {
    return faults;
  }

  LinkGuard links() {
    return links;
  }

  FileStatuses statuses() {
    return statuses;
  }

  boolean isRoot(Path file) {
    return paths.isRoot(file);
  }

  /** Throws if {@code authority} names another Lustre than the site's; null names none. */
  void checkAuthority(String authority) throws IOException {
    String fsname = site.fsname();
    if (authority != null && !fsname.isEmpty() && !fsname.equals(authority)) {
      throw new IOException(LustreFileSystem.SCHEME + "://" + authority + ": the site's Lustre is '"
          + fsname + "'; write " + LustreFileSystem.SCHEME + ":///PATH");
    }
  }

  boolean answersLocations() {
    return locations == Locations.VM;
  }

  long defaultBlockSize() {
    return policy.defaultBlockSize();
  }

  /**
   * Opens a file for reading; the stream counts the bytes that its caller gets into the statistics.
   *
   * @param wantedBuffer bytes of the buffer, at least
   * @param all counts every byte
   * @param local counts the bytes from OSTs of this machine's host
   * @throws IOException if the file is a directory, a FIFO, a device or the like
   */
  LustreInputStream open(org.apache.hadoop.fs.Path shown, Path file, int wantedBuffer,
      Statistics all, Statistics local) throws IOException {
    FileId found = regular(shown, file);
    Optional<StripeLayout> layout =
        site.hasLocal() ? layouts.layoutOf(file, found) : Optional.empty();
    ReadCounter counter = new ReadCounter(all, local, layout, site::isLocal);
    OpenFile open = OpenFile.of(file, StandardOpenOption.READ).by(calls, file)
        .telling(faults, paths.local(shown));
    return new LustreInputStream(shown, open, counter, Math.max(bufferSize, wantedBuffer));
  }

  /**
   * Opens a file for reading as {@link OwnFile} does: only if the owner of a directory above made
   * it.
   *
   * @param levels names at the end of the path that are not followed
   * @throws PlantedException that names what is not a file of the directory's owner
   */
  LustreInputStream openOwn(org.apache.hadoop.fs.Path shown, Path file, int levels,
      int wantedBuffer, Statistics all, Statistics local) throws IOException {
    Path base = paths.above(file, levels);
    try (Descriptor directory = links.object(base, LinkGuard.Use.READ);
        OwnFile own = links.own(directory, base, file)) {
      return faults.naming(() -> open(shown, own.path(), wantedBuffer, all, local));
    }
  }

  /** Makes one directory, striped over MDTs if the keys say so; see {@link Directories#makeOne}. */
  void makeDirectory(Path directory, int mode) throws IOException {
    try (GuardedEntry entry = links.entry(directory, LinkGuard.Use.CHANGE)) {
      if (striped.include(paths.within(directory))) {
        striped.make(entry.path(), mode);
      } else {
        Directories.makeOne(entry.path(), mode, links);
      }
    }
  }

  /**
   * Makes one directory, or takes the one that is there. Either must be a directory itself, not a
   * link to one, and belong to the owner of the directory above it.
   *
   * @throws PlantedException that names whatever else has the name
   */
  void makeOwnDirectory(Path directory, int mode) throws IOException {
    try (GuardedEntry entry = links.entry(directory, LinkGuard.Use.CHANGE)) {
      makeDirectory(directory, mode);
      OwnFile.checkDirectory(directory, entry);
    } catch (java.nio.file.FileAlreadyExistsException e) {
      try (GuardedEntry entry = links.entry(directory, LinkGuard.Use.CHANGE)) {
        OwnFile.checkDirectory(directory, entry);
      }
      throw e;
    }
  }

  /** Makes a directory and those above it that are missing, below the mount; none is striped. */
  void makeDirectories(Path directory, int mode) throws IOException {
    try {
      makeOne(directory, mode);
    } catch (NoSuchFileException e) {
      if (isRoot(directory)) {
        throw e;
      }
      makeDirectories(directory.getParent(), mode | OWNER_MAY_WRITE_AND_ENTER);
      makeOne(directory, mode);
    }
  }

  private void makeOne(Path directory, int mode) throws IOException {
    try (GuardedEntry entry = links.entry(directory, LinkGuard.Use.CHANGE)) {
      Directories.makeOne(entry.path(), mode, links);
    }
  }

  /** Makes a symbolic link that holds the target as it is. */
  void makeLink(Path link, Path target) throws IOException {
    try (GuardedEntry entry = links.entry(link, LinkGuard.Use.CHANGE)) {
      Files.createSymbolicLink(entry.path(), target);
    }
  }

  /**
   * Renames by handles of the two directories, as {@link Renamer#rename} does.
   *
   * @return false, with nothing changed, also when the directory of either name is not there
   */
  boolean renamed(Path source, Path destination, Renamer renamer) throws IOException {
    try {
      return rename(source, destination, true, renamer::rename);
    } catch (NoSuchFileException noParent) {
      return false;
    } catch (ErrnoException e) {
      if (e.is(Errno.ENOTDIR)) {
        return false;
      }
      throw e;
    }
  }

  /** Renames a path to another; both lead through directories that are held open. */
  @FunctionalInterface
  interface Rename<T> {
    T run(Path source, Path destination) throws IOException;
  }

  /**
   * Renames by handles of the two directories.
   *
   * @param into whether to move into a destination that is a directory or a link to one
   */
  <T> T rename(Path source, Path destination, boolean into, Rename<T> call) throws IOException {
    if (destination.equals(source) || destination.equals(source.getParent())) {
      return call.run(source, destination);  // onto itself: nothing is moved
    }
    try (GuardedEntry from = links.entry(source, LinkGuard.Use.CHANGE);
        GuardedEntry to = links.entry(destination, LinkGuard.Use.CHANGE)) {
      if (!into) {
        return call.run(from.path(), to.path());
      }
      try (Descriptor directory = directory(destination)) {
        return directory == null ? run(call, from.path(), to.path(), false)
            : run(call, from.path(), directory.path(), true);
      }
    }
  }

  // Below itself nothing is moved either: given the paths as text, the rename sees so, and answers without a call that
  // changes a name. It is told by the components of the paths without links: two handles of one
  // directory have two paths, and a link above the destination another text.
  private static <T> T run(Rename<T> call, Path source, Path target, boolean into)
      throws IOException {
    Path from = Descriptor.shown(source);
    Path to = Descriptor.shown(target);
    boolean isBelow = to.startsWith(from) && (into || !to.equals(from));
    return isBelow ? call.run(from, to) : call.run(source, target);
  }

  // The directory that a path leads to, in a handle of its own; null where it leads to none.
  private Descriptor directory(Path file) throws IOException {
    Descriptor found;
    try {
      found = links.object(file, LinkGuard.Use.CHANGE);
    } catch (NoSuchFileException absent) {
      return null;
    }
    if (found.id().isDirectory()) {
      return found;
    }
    found.close();
    return null;
  }

  /** Removes a name below the root; false when it is not there. See {@link Directories#delete}. */
  boolean delete(Path file, boolean recursive) throws IOException {
    try (GuardedEntry entry = links.entry(file, LinkGuard.Use.CHANGE)) {
      return Directories.delete(entry, recursive);
    } catch (NoSuchFileException noParent) {
      return false;
    }
  }

  /**
   * Makes a file with the layout that the policy wants for it, and opens it for writing.
   *
   * @throws FileAlreadyExistsException if the path is the root
   * @throws IOException also if the file is there and is not to be replaced
   */
  LustreOutputStream create(org.apache.hadoop.fs.Path shown, Path file, NewFile wanted)
      throws IOException {
    if (isRoot(file)) {
      throw new FileAlreadyExistsException(shown + ": is the root directory");
    }
    boolean lazy = isLazy(file);
    OpenFile open;
    try (GuardedEntry entry = links.entry(file, LinkGuard.Use.CHANGE)) {
      open = creator.create(entry.path(), wanted.mode(), wanted.overwrites(),
          policy.layoutsFor(paths.within(file), wanted.blockSize()), !lazy,
          () -> links.target(file, LinkGuard.Use.CHANGE)).by(calls, file).telling(faults, file);
    }
    return new LustreOutputStream(
        shown, open, 0, Math.max(bufferSize, wanted.bufferSize()), lazy);
  }

  /**
   * Opens a file for writing at its end, for one writer as in HDFS. A lock keeps other writers
   * away: with O_APPEND Lustre would lock the file to its end on every OST, for each write. A file
   * of {@link LustreConf#LAZY_PATHS} gets no lock: one task attempt alone writes it.
   *
   * @param wantedBuffer bytes of the buffer, at least
   * @throws IOException if somebody else holds a lock on the file, or it is not a regular file
   */
  LustreOutputStream append(org.apache.hadoop.fs.Path shown, Path file, int wantedBuffer)
      throws IOException {
    regular(shown, file);
    Path named = paths.local(shown);
    boolean lazy = isLazy(named);
    OpenFile open =
        (lazy ? OpenFile.of(file, StandardOpenOption.WRITE) : locks.append(file, named))
            .by(calls, file).telling(faults, named);
    try {
      return new LustreOutputStream(
          shown, open, open.size(), Math.max(bufferSize, wantedBuffer), lazy);
    } catch (IOException e) {
      open.close();
      throw e;
    }
  }

  /**
   * Opens a file for writing at its end, only if the owner of a directory above made the file.
   *
   * @param levels names at the end of the path that are not followed
   * @param wantedBuffer bytes of the buffer, at least
   * @throws PlantedException that names what is not a file of the directory's owner
   */
  LustreOutputStream appendOwn(org.apache.hadoop.fs.Path shown, Path file, int levels,
      int wantedBuffer) throws IOException {
    Path base = paths.above(file, levels);
    try (Descriptor directory = links.object(base, LinkGuard.Use.CHANGE);
        OwnFile own = links.own(directory, base, file)) {
      return faults.naming(() -> append(shown, own.path(), wantedBuffer));
    }
  }

  /** Cuts a file to a length in bytes, and waits until that is on disk. */
  void truncate(org.apache.hadoop.fs.Path shown, Path file, long length) throws IOException {
    regular(shown, file);
    Path named = paths.local(shown);
    try (OpenFile open = locks.change(file, named).by(calls, file).telling(faults, named)) {
      open.truncate(length);
      open.force(true);
    }
  }

  // Others have no reason to write what one task attempt makes for itself.
  boolean isLazy(Path file) {
    return lazyPaths.matcher(paths.within(file)).matches();
  }

  /** Returns capacity, used and free bytes of the file system that a file is on. */
  static FsStatus space(Path file) throws IOException {
    FileStore store = Files.getFileStore(file);
    return new FsStatus(store.getTotalSpace(),
        store.getTotalSpace() - store.getUnallocatedSpace(), store.getUsableSpace());
  }

  /**
   * Returns the block locations of a byte range that lies within a file of {@code fileLength}
   * bytes.
   */
  BlockLocation[] locate(Path file, long fileLength, long offset, long length)
      throws IOException {
    Optional<StripeLayout> layout = layouts.layoutOf(file, FileId.of(file));
    return layout.isPresent()
        ? locator.locate(
            layout.get(), fileLength, blockSize.of(layout.get(), fileLength), offset, length)
        : new BlockLocation[] {BlockLocator.nowhere(offset, length)};
  }

  // To open a FIFO waits for its other end, and to open a device may do anything.
  private static FileId regular(org.apache.hadoop.fs.Path shown, Path file) throws IOException {
    FileId found = FileId.of(file);
    if (found.isDirectory()) {
      throw new FileNotFoundException(shown + ": is a directory");
    }
    if (!found.isRegularFile()) {
      throw new IOException(shown + ": is " + found.kind()
          + ", not a regular file: not opened; remove it, or leave it out of the input");
    }
    return found;
  }
}
