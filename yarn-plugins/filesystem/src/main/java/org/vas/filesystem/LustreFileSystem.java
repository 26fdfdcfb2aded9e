package org.vas.filesystem;

import static java.util.Objects.requireNonNull;
import static org.apache.hadoop.fs.impl.PathCapabilitiesSupport.validatePathCapabilityArgs;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSLinkResolver;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * A mounted Lustre as {@code lustre:///}, or {@code lustre://FSNAME/}: POSIX semantics, no process
 * forked by any call, block locations from the stripes, and new files striped by blocks.
 */
public class LustreFileSystem extends FileSystem {
  static final String SCHEME = "lustre";
  /** Under this scheme MapReduce publishes the bytes read from OSTs of the VM's own host. */
  static final String LOCAL_SCHEME = "lustre-local";

  private final XattrCalls calls;
  private Statistics localStatistics;
  private Mounted mounted;
  private URI uri;
  private Path workingDirectory;

  public LustreFileSystem() {
    this(new Libc());
  }

  LustreFileSystem(XattrCalls calls) {
    this.calls = requireNonNull(calls, "calls");
  }

  /** Marks the statistics of local reads in Hadoop's table, which goes by class. */
  private abstract static class LocalOst extends FileSystem {}

  @Override
  @SuppressWarnings("deprecation") // MapReduce makes its counters of these, and of nothing newer.
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    mounted = mounted(conf);
    String authority = name.getAuthority();
    checkAuthority(authority);
    uri = URI.create(SCHEME + "://" + (authority == null ? "/" : authority));
    workingDirectory = getHomeDirectory();
    localStatistics = getStatistics(LOCAL_SCHEME, LocalOst.class);
  }

  // Callers of a file system expect its errors to be IOExceptions; these name the key and the fix.
  private Mounted mounted(Configuration conf) throws IOException {
    try {
      return new Mounted(conf, System.getenv(), calls);
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private void checkAuthority(String authority) throws IOException {
    String fsname = mounted.fsname();
    if (authority != null && !fsname.isEmpty() && !fsname.equals(authority)) {
      throw new IOException(SCHEME + "://" + authority + ": the site's Lustre is '" + fsname
          + "'; write " + SCHEME + ":///PATH");
    }
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public URI getUri() {
    return uri;
  }

  /** None: whoever may use the mount needs no token. */
  @Override
  public String getCanonicalServiceName() {
    return null;
  }

  @Override
  public Path getWorkingDirectory() {
    return workingDirectory;
  }

  @Override
  public void setWorkingDirectory(Path directory) {
    workingDirectory = fixRelativePart(directory);
  }

  @Override
  @SuppressWarnings("deprecation") // The other one calls it.
  public long getDefaultBlockSize() {
    return mounted.defaultBlockSize();
  }

  private Path shown(Path path) {
    checkPath(path);
    return makeQualified(path);
  }

  private java.nio.file.Path local(Path path) throws IOException {
    return mounted.paths().local(shown(path));
  }

  // ---- Reading.

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    statistics.incrementReadOps(1);
    return new FSDataInputStream(IoErrors.reading(path, () ->
        mounted.open(shown(path), local(path), bufferSize, statistics, localStatistics)));
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    return IoErrors.reading(path, () -> mounted.status(shown(path), local(path)));
  }

  @Override
  public FileStatus getFileLinkStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    FileStatus status = IoErrors.reading(path, () -> mounted.linkStatus(shown(path), local(path)));
    if (status.isSymlink()) {
      status.setSymlink(
          FSLinkResolver.qualifySymlinkTarget(uri, status.getPath(), status.getSymlink()));
    }
    return status;
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    statistics.incrementLargeReadOps(1);
    return IoErrors.reading(path, () -> mounted.list(shown(path), local(path)))
        .toArray(new FileStatus[0]);
  }

  /** One location for each block; see {@link BlockLocator} for its hosts. */
  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
      throws IOException {
    if (file == null || !mounted.answersLocations()) {
      return super.getFileBlockLocations(file, start, length);
    }
    if (start < 0 || length < 0) {
      throw new IllegalArgumentException(
          "Invalid start or len parameter: " + start + ", " + length);
    }
    statistics.incrementReadOps(1);
    long inFile = Math.min(length, file.getLen() - start);
    return inFile <= 0
        ? new BlockLocation[0]
        : IoErrors.reading(file.getPath(), () ->
            mounted.locate(local(file.getPath()), file.getLen(), start, inFile));
  }

  @Override
  public FsStatus getStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    return IoErrors.reading(path, () -> {
      FileStore store = Files.getFileStore(local(path == null ? new Path("/") : path));
      return new FsStatus(store.getTotalSpace(),
          store.getTotalSpace() - store.getUnallocatedSpace(), store.getUsableSpace());
    });
  }

  /** As the kernel sees this process, which is what a later open meets. */
  @Override
  public void access(Path path, FsAction mode) throws IOException {
    statistics.incrementReadOps(1);
    IoErrors.reading(path, () -> {
      Modes.check(local(path), mode);
      return null;
    });
  }

  // ---- Writing.

  @Override
  public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite,
      int bufferSize, short replication, long blockSize, Progressable progress)
      throws IOException {
    return createWithParents(
        path, new NewFile(fileMode(permission), overwrite, bufferSize, blockSize));
  }

  @Override
  public FSDataOutputStream createNonRecursive(Path path, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
    if (flags.contains(CreateFlag.APPEND) && exists(path)) {
      return append(path, bufferSize, progress);
    }
    return create(path, new NewFile(fileMode(permission), flags.contains(CreateFlag.OVERWRITE),
        bufferSize, blockSize));
  }

  /** What {@code FileContext} calls: it applied the umask, and made sure of the parent. */
  @Override
  @SuppressWarnings("deprecation")
  protected FSDataOutputStream primitiveCreate(Path path, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress, Options.ChecksumOpt checksums) throws IOException {
    boolean exists = exists(path);
    CreateFlag.validate(path, exists, flags);
    if (exists && flags.contains(CreateFlag.APPEND)) {
      return append(path, bufferSize, progress);
    }
    return createWithParents(path, new NewFile(permission.toShort(),
        flags.contains(CreateFlag.OVERWRITE), bufferSize, blockSize));
  }

  // Nearly always the parent is there: to look first would cost a request each time.
  private FSDataOutputStream createWithParents(Path path, NewFile wanted) throws IOException {
    try {
      return create(path, wanted);
    } catch (FileNotFoundException e) {
      makeParent(path);
      return create(path, wanted);
    }
  }

  private FSDataOutputStream create(Path path, NewFile wanted) throws IOException {
    statistics.incrementWriteOps(1);
    if (mounted.paths().isRoot(local(path))) {
      throw new FileAlreadyExistsException(path + ": is the root directory");
    }
    return new FSDataOutputStream(IoErrors.translating(path, () ->
        mounted.create(shown(path), local(path), wanted)), statistics);
  }

  private void makeParent(Path path) throws IOException {
    java.nio.file.Path parent = local(path).getParent();
    IoErrors.translating(path, () -> {
      Directories.make(parent, masked(FsPermission.getDirDefault()));
      return null;
    });
  }

  /** In one step: of several callers one gets true. */
  @Override
  public boolean createNewFile(Path path) throws IOException {
    try {
      create(path, false, 0, (short) 1, 0).close();
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    statistics.incrementWriteOps(1);
    FileStatus status = existingFile(path, "append to");
    return new FSDataOutputStream(IoErrors.reading(path, () ->
        mounted.append(shown(path), local(path), bufferSize)), statistics, status.getLen());
  }

  @Override
  public boolean truncate(Path path, long newLength) throws IOException {
    statistics.incrementWriteOps(1);
    FileStatus status = existingFile(path, "truncate");
    if (newLength < 0 || newLength > status.getLen()) {
      throw new IllegalArgumentException(path + ": cannot truncate to " + newLength
          + " bytes, the file has " + status.getLen());
    }
    return IoErrors.reading(path, () -> {
      try (OpenFile file = OpenFile.of(local(path), StandardOpenOption.WRITE)) {
        file.truncate(newLength);
        return true;
      }
    });
  }

  private FileStatus existingFile(Path path, String action) throws IOException {
    FileStatus status = getFileStatus(path);
    if (status.isDirectory()) {
      throw new FileNotFoundException(path + ": cannot " + action + " a directory");
    }
    return status;
  }

  // ---- The tree.

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return makeDirectories(
        path, masked(permission == null ? FsPermission.getDirDefault() : permission));
  }

  @Override
  @SuppressWarnings("deprecation") // FileContext calls it, with the umask applied.
  protected void primitiveMkdir(Path path, FsPermission permission, boolean createParent)
      throws IOException {
    Path parent = shown(path).getParent();
    if (!createParent && parent != null && !getFileStatus(parent).isDirectory()) {
      throw new ParentNotDirectoryException(parent + ": is not a directory");
    }
    makeDirectories(path, permission.toShort());
  }

  private boolean makeDirectories(Path path, int mode) throws IOException {
    statistics.incrementWriteOps(1);
    return IoErrors.translating(path, () -> {
      Directories.make(local(path), mode);
      return true;
    });
  }

  /** As HDFS does: into a directory that exists, over nothing; false when it cannot be. */
  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    statistics.incrementWriteOps(1);
    return !mounted.paths().isRoot(local(source)) && IoErrors.translating(source, () ->
        Renamer.rename(local(source), local(destination)));
  }

  @Override
  @SuppressWarnings("deprecation") // FileContext calls it.
  protected void rename(Path source, Path destination, Options.Rename... options)
      throws IOException {
    statistics.incrementWriteOps(1);
    boolean overwrite = List.of(options).contains(Options.Rename.OVERWRITE);
    IoErrors.translating(source, () -> {
      Renamer.renameOrThrow(local(source), local(destination), overwrite);
      return null;
    });
  }

  /** The root itself is the mount point, and stays: false. */
  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    statistics.incrementWriteOps(1);
    java.nio.file.Path file = local(path);
    if (mounted.paths().isRoot(file)) {
      if (!recursive && !Directories.list(file).isEmpty()) {
        throw new PathIsNotEmptyDirectoryException(path.toString());
      }
      return false;
    }
    return IoErrors.translating(path, () -> {
      if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        return false;
      }
      if (recursive) {
        Directories.deleteTree(file);
        return true;
      }
      return Files.deleteIfExists(file);
    });
  }

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    change(path, file -> Modes.change(file, permission.toShort()));
  }

  @Override
  public void setOwner(Path path, String user, String group) throws IOException {
    change(path, file -> Owners.set(file, user, group));
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    change(path, file -> Times.set(file, modified, accessed));
  }

  @FunctionalInterface
  private interface Change {
    void apply(java.nio.file.Path file) throws IOException;
  }

  private void change(Path path, Change change) throws IOException {
    statistics.incrementWriteOps(1);
    IoErrors.reading(path, () -> {
      change.apply(local(path));
      return null;
    });
  }

  // Null is a caller without a wish, as in Hadoop's other file systems.
  private int fileMode(FsPermission permission) {
    return masked(permission == null ? FsPermission.getFileDefault() : permission);
  }

  private int masked(FsPermission permission) {
    return permission.applyUMask(FsPermission.getUMask(getConf())).toShort();
  }

  // ---- Symbolic links: the kernel follows them, so that no call ends in an unresolved one.

  @Override
  public boolean supportsSymlinks() {
    return true;
  }

  @Override
  public void createSymlink(Path target, Path link, boolean createParent) throws IOException {
    statistics.incrementWriteOps(1);
    if (createParent) {
      makeParent(link);
    }
    IoErrors.translating(link, () ->
        Files.createSymbolicLink(local(link), mounted.paths().storedTarget(target, SCHEME)));
  }

  @Override
  public Path getLinkTarget(Path path) throws IOException {
    statistics.incrementReadOps(1);
    FileStatus status = IoErrors.reading(path, () -> mounted.linkStatus(shown(path), local(path)));
    if (!status.isSymlink()) {
      throw new IOException("Path " + shown(path) + " is not a symbolic link");
    }
    return status.getSymlink();
  }

  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    switch (validatePathCapabilityArgs(makeQualified(path), capability)) {
      case CommonPathCapabilities.FS_APPEND:
      case CommonPathCapabilities.FS_PERMISSIONS:
      case CommonPathCapabilities.FS_TRUNCATE:
        return true;
      case CommonPathCapabilities.FS_SYMLINKS:
        return FileSystem.areSymlinksEnabled();
      default:
        return super.hasPathCapability(path, capability);
    }
  }
}
