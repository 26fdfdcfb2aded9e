package org.vas.shuffle.mof;

import java.io.IOException;
import java.net.URI;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** Local files under any scheme; notes the calls from outside, not those it makes itself. */
public final class ObservedFileSystem extends RawLocalFileSystem {
  private static final Map<MetadataOperation, Long> CALLS = new EnumMap<>(MetadataOperation.class);
  private static final ThreadLocal<Integer> DEPTH = ThreadLocal.withInitial(() -> 0);

  private URI uri;

  /** Takes the place of a scheme's file system. */
  public static void configure(Configuration conf, String scheme) {
    conf.set("fs." + scheme + ".impl", ObservedFileSystem.class.getName());
    conf.setBoolean("fs." + scheme + ".impl.disable.cache", true);
    reset();
  }

  public static void reset() {
    synchronized (CALLS) {
      CALLS.clear();
    }
  }

  public static long calls(MetadataOperation operation) {
    synchronized (CALLS) {
      return CALLS.getOrDefault(operation, 0L);
    }
  }

  private interface Call<T> {
    T run() throws IOException;
  }

  private static <T> T noting(MetadataOperation operation, Call<T> call) throws IOException {
    if (DEPTH.get() == 0) {
      synchronized (CALLS) {
        CALLS.merge(operation, 1L, Long::sum);
      }
    }
    DEPTH.set(DEPTH.get() + 1);
    try {
      return call.run();
    } finally {
      DEPTH.set(DEPTH.get() - 1);
    }
  }

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    uri = URI.create(name.getScheme() + ":///");
    super.initialize(uri, conf);
  }

  @Override
  public URI getUri() {
    return uri == null ? super.getUri() : uri; // the parent asks while it is made
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return noting(MetadataOperation.DIRECTORIES_CREATED, () -> super.mkdirs(path, permission));
  }

  @Override
  public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite,
      int bufferSize, short replication, long blockSize, Progressable progress)
      throws IOException {
    return noting(MetadataOperation.FILES_CREATED, () -> super.create(
        path, permission, overwrite, bufferSize, replication, blockSize, progress));
  }

  @Override
  public FSDataOutputStream createNonRecursive(Path path, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
    return noting(MetadataOperation.FILES_CREATED, () -> super.createNonRecursive(
        path, permission, flags, bufferSize, replication, blockSize, progress));
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    return noting(MetadataOperation.OPENS, () -> super.append(path, bufferSize, progress));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return noting(MetadataOperation.OPENS, () -> super.open(path, bufferSize));
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    return noting(MetadataOperation.RENAMES, () -> super.rename(from, to));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return noting(MetadataOperation.DELETES, () -> super.delete(path, recursive));
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return noting(MetadataOperation.STATS, () -> super.getFileStatus(path));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return noting(MetadataOperation.LISTINGS, () -> super.listStatus(path));
  }
}
