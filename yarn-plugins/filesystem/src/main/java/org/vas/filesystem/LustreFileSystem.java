package org.vas.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSLinkResolver;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * A mounted Lustre as {@code lustre:///}, or {@code lustre://FSNAME/}: POSIX semantics, no process
 * forked by any call, block locations from the stripes, and new files striped by blocks.
 */
public class LustreFileSystem extends MountedFileSystem {
  private final Renamer renamer;

  public LustreFileSystem() {
    this(new Libc());
  }

  LustreFileSystem(ClientCalls calls) {
    super(calls);
    this.renamer = new Renamer(calls);
  }

  // ---- Reading.

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return new FSDataInputStream(operations().reading(path, (shown, file) ->
        mounted().open(shown, file, bufferSize, statistics, localStatistics())));
  }

  /**
   * Opens a file for reading if the owner of the directory {@code levels} names above made it: a
   * link, a hard link, a FIFO, a device or another user's file in its place is refused, and not
   * opened.
   *
   * @param levels how many names at the end of the path are not followed, the file's own included
   * @param bufferSize bytes of the read buffer, at least
   * @throws FileNotFoundException if the file is not there
   * @throws PlantedException that names what is not a file of the directory's owner
   */
  public FSDataInputStream openOwn(Path path, int levels, int bufferSize) throws IOException {
    return new FSDataInputStream(operations().readingName(path, (shown, file) -> mounted().openOwn(
        shown, file, levels, bufferSize, statistics, localStatistics())));
  }

  /**
   * Opens a file to append to it if the owner of the directory {@code levels} names above made it:
   * a link, a hard link, a FIFO, a device or another user's file in its place is refused, not
   * opened.
   *
   * @param levels how many names at the end of the path are not followed, the file's own included
   * @param bufferSize bytes of the write buffer, at least
   * @throws FileNotFoundException if the file is not there
   * @throws PlantedException that names what is not a file of the directory's owner
   * @throws IOException also if somebody else holds a lock on the file
   */
  public FSDataOutputStream appendOwn(Path path, int levels, int bufferSize) throws IOException {
    return counted(operations().naming(path, (shown, file) ->
        mounted().appendOwn(shown, file, levels, bufferSize)));
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return operations().reading(path, mounted().statuses()::of);
  }

  @Override
  public FileStatus getFileLinkStatus(Path path) throws IOException {
    FileStatus status = operations().readingLink(path, mounted().statuses()::ofLink);
    if (status.isSymlink()) {
      status.setSymlink(
          FSLinkResolver.qualifySymlinkTarget(getUri(), status.getPath(), status.getSymlink()));
    }
    return status;
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return operations().listing(path, mounted().statuses()::list).toArray(new FileStatus[0]);
  }

  @Override
  public FileStatus[] globStatus(Path pattern) throws IOException {
    return globStatus(pattern, path -> true);
  }

  @Override
  public FileStatus[] globStatus(Path pattern, PathFilter filter) throws IOException {
    return new GlobView(this).find(pattern, filter);
  }

  /**
   * Returns one location for each block of a byte range; {@link BlockLocator} says with which
   * hosts.
   */
  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
      throws IOException {
    if (file == null || !mounted().answersLocations()) {
      return super.getFileBlockLocations(file, start, length);
    }
    if (start < 0 || length < 0) {
      throw new IllegalArgumentException(
          "Invalid start or len parameter: " + start + ", " + length);
    }
    long inFile = Math.min(length, file.getLen() - start);
    return inFile <= 0
        ? new BlockLocation[0]
        : operations().reading(file.getPath(), (shown, local) ->
            mounted().locate(local, file.getLen(), start, inFile));
  }

  @Override
  public FsStatus getStatus(Path path) throws IOException {
    return operations().reading(
        path == null ? new Path("/") : path, (shown, file) -> Mounted.space(file));
  }

  /**
   * Throws unless the kernel lets this process do what {@code mode} says; the kernel decides in the
   * same way about a later open.
   */
  @Override
  public void access(Path path, FsAction mode) throws IOException {
    operations().reading(path, (shown, file) -> {
      Modes.check(file, mode);
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

  /**
   * Creates or appends to a file for {@code FileContext}, which has already applied the umask and
   * made sure of the parent.
   */
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
    return counted(operations().naming(path, (shown, file) ->
        mounted().create(shown, file, wanted)));
  }

  // The stream counts once for each write to the file: Hadoop's would for each of a record's parts.
  // Where it begins is known only now: before the lock the length may have been another writer's.
  private FSDataOutputStream counted(LustreOutputStream out) {
    return new FSDataOutputStream(
        out.counting(statistics::incrementBytesWritten), null, out.position());
  }

  private void makeParent(Path path) throws IOException {
    java.nio.file.Path parent = operations().file(path).getParent();
    IoErrors.translating(path, () -> {
      mounted().makeDirectories(parent, masked(FsPermission.getDirDefault()));
      return null;
    });
  }

  /**
   * Makes an empty file in one step; false if the name is taken. Of several callers one gets true.
   */
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
    existingFile(path, "append to");
    return counted(operations().writing(path, (shown, file) ->
        mounted().append(shown, file, bufferSize)));
  }

  @Override
  public boolean truncate(Path path, long newLength) throws IOException {
    FileStatus status = existingFile(path, "truncate");
    if (newLength < 0 || newLength > status.getLen()) {
      throw new IllegalArgumentException(path + ": cannot truncate to " + newLength
          + " bytes, the file has " + status.getLen());
    }
    operations().writing(path, (shown, file) -> {
      mounted().truncate(shown, file, newLength);
      return null;
    });
    return true;
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
    if (createParent) {
      makeDirectories(path, permission.toShort());
    } else {
      mkdir(path, permission);
    }
  }

  /**
   * Makes one directory in one step, and none above it. A directory that is there stays as it is.
   *
   * @param permission the exact permission bits: no umask is applied to them
   * @throws FileAlreadyExistsException if something else has the name
   * @throws FileNotFoundException if the directory above is not there
   */
  public void mkdir(Path path, FsPermission permission) throws IOException {
    operations().naming(path, (shown, directory) -> {
      mounted().makeDirectory(directory, permission.toShort());
      return null;
    });
  }

  /**
   * Makes one directory in one step, and none above it. A directory that is there stays as it is,
   * and must belong to the owner of the directory above it.
   *
   * @param permission the exact permission bits: no umask is applied to them
   * @throws FileNotFoundException if the directory above is not there
   * @throws PlantedException that names the link, or whatever else has the name
   */
  public void mkdirOwn(Path path, FsPermission permission) throws IOException {
    operations().naming(path, (shown, directory) -> {
      mounted().makeOwnDirectory(directory, permission.toShort());
      return null;
    });
  }

  private boolean makeDirectories(Path path, int mode) throws IOException {
    return operations().naming(path, (shown, directory) -> {
      mounted().makeDirectories(directory, mode);
      return true;
    });
  }

  /**
   * Renames a file or directory as HDFS does: into the destination when that is a directory, and
   * never over anything; false, with nothing changed, when that cannot be done.
   */
  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    return operations().naming(source, (shown, file) ->
        !mounted().isRoot(file) && mounted().renamed(file, operations().file(destination), renamer));
  }

  @Override
  @SuppressWarnings("deprecation") // FileContext calls it.
  protected void rename(Path source, Path destination, Options.Rename... options)
      throws IOException {
    boolean overwrite = List.of(options).contains(Options.Rename.OVERWRITE);
    operations().naming(source, (shown, file) ->
        mounted().rename(file, operations().file(destination), false, (from, to) -> {
          renamer.renameOrThrow(from, to, overwrite);
          return null;
        }));
  }

  /**
   * Removes a file or directory; false when it is not there. The root is the mount point, and
   * stays: false.
   */
  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return operations().naming(path, (shown, file) -> mounted().isRoot(file)
        ? keepRoot(shown, file, recursive) : mounted().delete(file, recursive));
  }

  private static boolean keepRoot(Path shown, java.nio.file.Path root, boolean recursive)
      throws IOException {
    if (!recursive && !Directories.list(root).isEmpty()) {
      throw new PathIsNotEmptyDirectoryException(shown.toString());
    }
    return false;
  }

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    operations().change(path, file -> Modes.change(file, permission.toShort()));
  }

  @Override
  public void setOwner(Path path, String user, String group) throws IOException {
    operations().change(path, file -> Owners.set(file, user, group));
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    operations().change(path, file -> Times.set(file, modified, accessed));
  }

  // Null is a caller that asks for nothing, as in Hadoop's other file systems.
  private int fileMode(FsPermission permission) {
    return masked(permission == null ? FsPermission.getFileDefault() : permission);
  }

  private int masked(FsPermission permission) {
    return permission.applyUMask(FsPermission.getUMask(getConf())).toShort();
  }

  // ---- Symbolic links: the kernel follows them, so that no call ends in an unresolved one.

  @Override
  public void createSymlink(Path target, Path link, boolean createParent) throws IOException {
    if (createParent) {
      makeParent(link);
    }
    operations().naming(link, (shown, file) -> {
      mounted().makeLink(file, mounted().paths().storedTarget(target, SCHEME));
      return null;
    });
  }

  @Override
  public Path getLinkTarget(Path path) throws IOException {
    FileStatus status = operations().readingLink(path, mounted().statuses()::ofLink);
    if (!status.isSymlink()) {
      throw new IOException("Path " + shown(path) + " is not a symbolic link");
    }
    return status.getSymlink();
  }
}
