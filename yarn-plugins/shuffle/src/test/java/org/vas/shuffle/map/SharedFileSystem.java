package org.vas.shuffle.map;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** Local files under a scheme of their own, as a shared mount has, with faults at named points. */
public final class SharedFileSystem extends RawLocalFileSystem {
  static final String SCHEME = "shared";

  /**
   * Throws where something is to fail; points are create, write, hsync, close, rename, delete, read
   * and status.
   */
  interface Fault {
    void at(String point, Path path) throws IOException;
  }

  /** Bytes written since {@link #heal}. */
  static final AtomicLong WRITTEN = new AtomicLong();
  private static final AtomicLong OPEN = new AtomicLong();

  private static volatile Fault fault = (point, path) -> {};

  static void inject(Fault next) {
    fault = next;
  }

  static void heal() {
    fault = (point, path) -> {};
    WRITTEN.set(0);
    OPEN.set(0);
  }

  /** Files opened for reading and not closed. */
  static long openStreams() {
    return OPEN.get();
  }

  static void configure(Configuration conf) {
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
  public FSDataOutputStream createNonRecursive(Path path, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
    fault.at("create", path);
    return new FSDataOutputStream(new Stream(path, super.createNonRecursive(
        path, permission, flags, bufferSize, replication, blockSize, progress)), null);
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    fault.at("rename", from);
    return super.rename(from, to);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    fault.at("status", path);
    return super.getFileStatus(path);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    fault.at("delete", path);
    return super.delete(path, recursive);
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    FSDataInputStream in = super.open(path, bufferSize);
    OPEN.incrementAndGet();
    return new FSDataInputStream(in.getWrappedStream()) {
      private boolean closed;

      @Override
      public int read(long position, byte[] bytes, int offset, int length) throws IOException {
        fault.at("read", path);
        return super.read(position, bytes, offset, length);
      }

      @Override
      public void readFully(long position, byte[] bytes, int offset, int length)
          throws IOException {
        fault.at("read", path);
        super.readFully(position, bytes, offset, length);
      }

      @Override
      public void close() throws IOException {
        OPEN.addAndGet(closed ? 0 : -1);
        closed = true;
        super.close();
      }
    };
  }

  private static final class Stream extends FilterOutputStream implements Syncable {
    private final Path path;

    Stream(Path path, OutputStream out) {
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
}
