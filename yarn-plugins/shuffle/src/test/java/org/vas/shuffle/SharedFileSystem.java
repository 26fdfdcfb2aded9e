package org.vas.shuffle;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Local files under a scheme of their own, as a shared mount has. Each call can be made to fail or
 * to hang, reads come short, and bytes read are counted.
 */
public final class SharedFileSystem extends RawLocalFileSystem {
  public static final String SCHEME = "shared";

  /**
   * Is asked before each call, and throws where it is to fail; calls are mkdirs, create, append,
   * write, hsync, rename, delete, open, read, status, locate and list; close is asked after it was
   * done.
   */
  @FunctionalInterface
  public interface Fault {
    void at(String call, Path path) throws IOException;
  }

  private static final Fault NONE = (call, path) -> {};

  /** Bytes read at a position, and bytes written, since {@link #heal}. */
  public static final AtomicLong BYTES_READ = new AtomicLong();
  public static final AtomicLong WRITTEN = new AtomicLong();

  private static volatile AtomicLong open = new AtomicLong();
  private static volatile Fault fault = NONE;
  private static volatile Function<Path, String> ost = SharedFileSystem::nowhere;

  public static void inject(Fault next) {
    fault = next;
  }

  /** Which OST a file is on; null: nobody knows. */
  public static void osts(Function<Path, String> ostOfFile) {
    ost = ostOfFile;
  }

  /** No faults, no OSTs, and nothing counted. */
  public static void heal() {
    fault = NONE;
    ost = SharedFileSystem::nowhere;
    BYTES_READ.set(0);
    WRITTEN.set(0);
    open = new AtomicLong(); // what is closed later counts in the old one
  }

  /** Returns how many files were opened for reading since {@link #heal} and are not closed. */
  public static long openStreams() {
    return open.get();
  }

  /** Waits until every file that was opened for reading is closed, as threads of a pool do it. */
  public static void awaitNoOpenStream() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (openStreams() != 0) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(openStreams() + " open streams");
      }
      Thread.onSpinWait();
    }
  }

  public static void configure(Configuration conf) {
    conf.set("fs." + SCHEME + ".impl", SharedFileSystem.class.getName());
  }

  @Override
  public URI getUri() {
    return URI.create(SCHEME + ":///");
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    fault.at("status", path);
    return super.getFileStatus(path);
  }

  @Override
  public boolean exists(Path path) throws IOException {
    fault.at("status", path);
    return super.exists(path);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    fault.at("list", path);
    return super.listStatus(path);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    fault.at("mkdirs", path);
    return super.mkdirs(path, permission);
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    fault.at("rename", from);
    return super.rename(from, to);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    fault.at("delete", path);
    return super.delete(path, recursive);
  }

  @Override
  public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite,
      int bufferSize, short replication, long blockSize, Progressable progress)
      throws IOException {
    fault.at("create", path);
    return wrapped(path, super.create(
        path, permission, overwrite, bufferSize, replication, blockSize, progress));
  }

  @Override
  public FSDataOutputStream createNonRecursive(Path path, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
    fault.at("create", path);
    return wrapped(path, super.createNonRecursive(
        path, permission, flags, bufferSize, replication, blockSize, progress));
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    fault.at("append", path);
    FSDataOutputStream out = super.append(path, bufferSize, progress);
    return new FSDataOutputStream(new Out(path, out), null, out.getPos());
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    fault.at("open", path);
    return new FSDataInputStream(new In(path, super.open(path, bufferSize)));
  }

  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
      throws IOException {
    fault.at("locate", file.getPath());
    String known = ost.apply(file.getPath());
    return known == null ? super.getFileBlockLocations(file, start, length)
        : new BlockLocation[] {new BlockLocation(null, null, null, null, new String[] {known}, null,
            start, length, false)};
  }

  private static String nowhere(Path path) {
    return null;
  }

  private static FSDataOutputStream wrapped(Path path, OutputStream out) throws IOException {
    return new FSDataOutputStream(new Out(path, out), null);
  }

  private static final class Out extends FilterOutputStream implements Syncable {
    private final Path path;

    Out(Path path, OutputStream out) {
      super(out);
      this.path = path;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      fault.at("write", path);
      WRITTEN.addAndGet(length);
      out.write(bytes, offset, length);
    }

    @Override
    public void hflush() throws IOException {
      hsync();
    }

    @Override
    public void hsync() throws IOException {
      fault.at("hsync", path);
      out.flush();
    }

    @Override
    public void close() throws IOException {
      super.close();
      fault.at("close", path);
    }
  }

  private static final class In extends FSInputStream {
    private final Path path;
    private final FSDataInputStream in;
    private final AtomicLong counter = open;
    private boolean closed;

    In(Path path, FSDataInputStream in) {
      counter.incrementAndGet();
      this.path = path;
      this.in = in;
    }

    @Override
    public void seek(long position) throws IOException {
      in.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return in.getPos();
    }

    @Override
    public boolean seekToNewSource(long target) {
      return false;
    }

    @Override
    public int read() throws IOException {
      fault.at("read", path);
      return in.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      fault.at("read", path);
      return in.read(bytes, offset, length);
    }

    @Override
    public int read(long position, byte[] bytes, int offset, int length) throws IOException {
      fault.at("read", path);
      // Half of what was asked for: a short read is no end.
      int count = in.read(position, bytes, offset, Math.max(1, length / 2));
      BYTES_READ.addAndGet(Math.max(0, count));
      return count;
    }

    @Override
    public void close() throws IOException {
      counter.addAndGet(closed ? 0 : -1);
      closed = true;
      in.close();
    }
  }
}
