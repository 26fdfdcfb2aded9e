package org.vas.filesystem;

import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The product's file system as the tasks of one guest have it, which its authority names. Every
 * call is one at which the guest can die.
 */
public final class ModelFileSystem extends LustreFileSystem {
  // Hadoop makes file systems by their class alone.
  private static final Map<String, ModelGuest> GUESTS = new ConcurrentHashMap<>();

  private final Chosen guest;

  public ModelFileSystem() {
    this(new Chosen());
  }

  private ModelFileSystem(Chosen guest) {
    super(guest);
    this.guest = guest;
  }

  static void register(String name, ModelGuest guest) {
    GUESTS.put(name, guest);
  }

  /** The guest, once it is known which. */
  private static final class Chosen implements ClientCalls {
    private ModelGuest is;

    private void call() {
      is.call();
    }

    @Override
    public byte[] get(java.nio.file.Path file, String name) throws ErrnoException {
      return is.get(file, name);
    }

    @Override
    public void set(java.nio.file.Path file, String name, byte[] value) throws ErrnoException {
      is.set(file, name, value);
    }

    @Override
    public void mknod(java.nio.file.Path file, int mode) throws IOException {
      is.mknod(file, mode);
    }

    @Override
    public void renameNoReplace(java.nio.file.Path from, java.nio.file.Path to)
        throws ErrnoException {
      is.renameNoReplace(from, to);
    }

    @Override
    public void link(java.nio.file.Path from, java.nio.file.Path to) throws ErrnoException {
      is.link(from, to);
    }

    @Override
    public java.nio.channels.AsynchronousFileChannel bytes(java.nio.file.Path file,
        java.nio.channels.AsynchronousFileChannel open) throws IOException {
      return is.bytes(file, open);
    }
  }

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    guest.is = GUESTS.get(name.getAuthority());
    super.initialize(name, conf);
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    guest.call();
    return super.open(path, bufferSize);
  }

  @Override
  public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite,
      int bufferSize, short replication, long blockSize, Progressable progress)
      throws IOException {
    guest.call();
    return super.create(
        path, permission, overwrite, bufferSize, replication, blockSize, progress);
  }

  @Override
  public FSDataOutputStream createNonRecursive(Path path, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
    guest.call();
    return super.createNonRecursive(
        path, permission, flags, bufferSize, replication, blockSize, progress);
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    guest.call();
    return super.append(path, bufferSize, progress);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    guest.call();
    return super.mkdirs(path, permission);
  }

  @Override
  public void mkdir(Path path, FsPermission permission) throws IOException {
    guest.call();
    super.mkdir(path, permission);
  }

  @Override
  public void mkdirOwn(Path path, FsPermission permission) throws IOException {
    guest.call();
    super.mkdirOwn(path, permission);
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    guest.call();
    return super.rename(source, destination);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    guest.call();
    return super.delete(path, recursive);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    guest.call();
    return super.getFileStatus(path);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    guest.call();
    FileStatus[] found = super.listStatus(path);
    Arrays.sort(found);  // by name, so that a seed means one history
    return found;
  }
}
