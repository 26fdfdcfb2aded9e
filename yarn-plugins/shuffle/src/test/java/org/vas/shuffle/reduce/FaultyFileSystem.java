package org.vas.shuffle.reduce;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** Local files as {@code faulty:///}, whose calls can be made to fail or to hang, and are counted. */
public final class FaultyFileSystem extends RawLocalFileSystem {
  static final String SCHEME = "faulty";
  static final AtomicLong BYTES_READ = new AtomicLong();

  /**
   * Throws where something is to fail; calls are open, read, status, locate, list
   * and create.
   */
  @FunctionalInterface
  interface Fault {
    void at(String call, Path path) throws IOException;
  }

  private static volatile Fault fault = (call, path) -> {};

  private static volatile Function<Path, String> ost = path -> null;

  static void inject(Fault next) {
    fault = next;
  }

  /** Which OST a file is on; null: the file system does not know. */
  static void osts(Function<Path, String> ostOfFile) {
    ost = ostOfFile;
  }

  static void heal() {
    fault = (call, path) -> {};
    ost = path -> null;
    BYTES_READ.set(0);
  }

  static void configure(Configuration conf) {
    conf.set("fs." + SCHEME + ".impl", FaultyFileSystem.class.getName());
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
  public FileStatus[] listStatus(Path path) throws IOException {
    fault.at("list", path);
    return super.listStatus(path);
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

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    fault.at("open", path);
    return new FSDataInputStream(new Stream(path, super.open(path, bufferSize)));
  }

  private static final class Stream extends FSInputStream {
    private final Path path;
    private final FSDataInputStream in;

    Stream(Path path, FSDataInputStream in) {
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
      in.close();
    }
  }
}
