package org.vas.shuffle.mof;

import static java.util.Objects.requireNonNull;

import java.io.FileNotFoundException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.util.EnumSet;
import java.util.function.Consumer;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The file system of a job's map output, as its tasks use it: reports each call that the metadata
 * server has to answer to a meter, and names the file in the errors of calls that change something.
 * It is never closed, because the file system below is the process's.
 */
public final class ShuffleFiles extends FilterFileSystem {
  private static final FsPermission PRIVATE = new FsPermission((short) 0600);

  private final Consumer<MetadataOperation> meter;

  /**
   * Wraps a file system for the tasks of a job.
   *
   * @param meter is told of each call before it is made; from several threads
   */
  public ShuffleFiles(FileSystem fs, Consumer<MetadataOperation> meter) {
    super(withoutChecksums(fs));
    this.meter = requireNonNull(meter, "meter");
  }

  // Map output has checksums of its own; files that have Hadoop's besides cannot be appended to.
  private static FileSystem withoutChecksums(FileSystem fs) {
    return fs instanceof LocalFileSystem ? ((LocalFileSystem) fs).getRaw() : fs;
  }

  private interface Call<T> {
    T run() throws IOException;
  }

  /**
   * Makes one directory for its owner alone, and none above it. One that is there stays.
   *
   * @throws java.io.FileNotFoundException if the directory above is not there
   */
  public void makeDirectory(Path path) throws IOException {
    meter.accept(MetadataOperation.DIRECTORIES_CREATED);
    named(path, "mkdir", () -> {
      OneDirectory.make(fs, path);
      return null;
    });
  }

  /** Makes a file for its owner alone; fails if there is one, or no directory for it. */
  public FSDataOutputStream createPrivate(Path path, int bufferBytes) throws IOException {
    return createNonRecursive(path, PRIVATE, EnumSet.of(CreateFlag.CREATE), bufferBytes,
        fs.getDefaultReplication(path), fs.getDefaultBlockSize(path), null);
  }

  @Override
  public FSDataOutputStream createNonRecursive(Path path, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
    meter.accept(MetadataOperation.FILES_CREATED);
    return named(path, "create", () -> {
      OwnShuffleFile.checkNew(fs, path);
      return output(path, fs.createNonRecursive(
          path, permission, flags, bufferSize, replication, blockSize, progress));
    });
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    meter.accept(MetadataOperation.OPENS);
    return named(path, "append",
        () -> output(path, OwnShuffleFile.append(fs, path, bufferSize, progress)));
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    meter.accept(MetadataOperation.RENAMES);
    return named(from, "rename", () -> fs.rename(from, to));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    meter.accept(MetadataOperation.DELETES);
    return named(path, "delete", () -> fs.delete(path, recursive));
  }

  // Errors of reading stay as they are: who is to blame is told from them.

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    meter.accept(MetadataOperation.OPENS);
    return OwnShuffleFile.open(fs, path, bufferSize);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    meter.accept(MetadataOperation.STATS);
    return fs.getFileStatus(path);
  }

  /** Returns whether there is a directory of this name itself, not a link to one. */
  public boolean isDirectoryItself(Path path) throws IOException {
    meter.accept(MetadataOperation.STATS);
    return OneDirectory.is(fs, path);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    meter.accept(MetadataOperation.LISTINGS);
    return fs.listStatus(path);
  }

  private static FSDataOutputStream output(Path path, FSDataOutputStream out) throws IOException {
    return new FSDataOutputStream(new NamedOutput(path, out), null, out.getPos());
  }

  private static <T> T named(Path path, String call, Call<T> body) throws IOException {
    try {
      return body.run();
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).contains(path.getName())) {
        throw e;
      }
      String message = path + ": " + call + ": " + e.getMessage();
      throw (IOException) (e instanceof FileNotFoundException
          ? new FileNotFoundException(message) : new IOException(message)).initCause(e);
    }
  }

  /** A stream whose errors name its file. */
  private static final class NamedOutput extends FilterOutputStream implements Syncable {
    private final Path path;
    private final FSDataOutputStream file;

    NamedOutput(Path path, FSDataOutputStream file) {
      super(file);
      this.path = path;
      this.file = file;
    }

    private interface Action {
      void run() throws IOException;
    }

    private void naming(String call, Action action) throws IOException {
      named(path, call, () -> {
        action.run();
        return null;
      });
    }

    @Override
    public void write(int value) throws IOException {
      naming("write", () -> file.write(value));
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      naming("write", () -> file.write(bytes, offset, length));
    }

    @Override
    public void flush() throws IOException {
      naming("write", file::flush);
    }

    @Override
    public void hflush() throws IOException {
      naming("fsync", file::hflush);
    }

    @Override
    public void hsync() throws IOException {
      naming("fsync", file::hsync);
    }

    @Override
    public void close() throws IOException {
      naming("close", file::close);
    }
  }
}
