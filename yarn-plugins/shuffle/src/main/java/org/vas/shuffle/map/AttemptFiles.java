package org.vas.shuffle.map;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.EnumSet;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapred.Reporter;
import org.vas.shuffle.mof.ShuffleDirs;

/** The directory of one map attempt, and the count of what is done to its metadata. */
final class AttemptFiles {
  private static final FsPermission PRIVATE_DIRECTORY = new FsPermission((short) 0700);
  private static final FsPermission PRIVATE_FILE = new FsPermission((short) 0600);
  private static final int BUFFER_BYTES = 256 << 10;

  private final FileSystem fs;
  private final Path directory;
  private final Reporter reporter;

  AttemptFiles(FileSystem fs, Path directory, Reporter reporter) {
    this.fs = fs;
    this.directory = directory;
    this.reporter = reporter;
  }

  /** Makes the directory; fails if there is one, or if the job's is gone. */
  void make(ShuffleDirs dirs) throws IOException {
    if (!exists(dirs.jobDir())) {
      throw new FileNotFoundException(dirs.jobDir() + ": the job's staging directory is gone;"
          + " the job has ended, or somebody removed it");
    }
    if (exists(directory)) {
      throw new FileAlreadyExistsException(directory
          + ": another process has worked, or works, under this attempt's name");
    }
    makeOne(dirs.root());
    makeOne(directory);
  }

  /** A new file; fails if there is one of that name. */
  FSDataOutputStream create(String name) throws IOException {
    count(MetadataOperation.FILES_CREATED);
    Path path = path(name);
    return fs.createNonRecursive(path, PRIVATE_FILE, EnumSet.of(CreateFlag.CREATE), BUFFER_BYTES,
        fs.getDefaultReplication(path), fs.getDefaultBlockSize(path), null);
  }

  FSDataOutputStream append(String name) throws IOException {
    count(MetadataOperation.OPENS);
    return fs.append(path(name), BUFFER_BYTES);
  }

  FSDataInputStream open(String name) throws IOException {
    count(MetadataOperation.OPENS);
    return fs.open(path(name));
  }

  void rename(String from, String to) throws IOException {
    count(MetadataOperation.RENAMES);
    if (!fs.rename(path(from), path(to))) {
      throw new IOException(path(from) + ": cannot be renamed to " + to);
    }
  }

  void delete(String name) throws IOException {
    count(MetadataOperation.DELETES);
    if (!fs.delete(path(name), false)) {
      throw new IOException(path(name) + ": cannot be deleted");
    }
  }

  Path path(String name) {
    return new Path(directory, name);
  }

  private void makeOne(Path path) throws IOException {
    count(MetadataOperation.DIRECTORIES_CREATED);
    if (!fs.mkdirs(path, PRIVATE_DIRECTORY)) {
      throw new IOException(path + ": cannot be made");
    }
  }

  private boolean exists(Path path) throws IOException {
    count(MetadataOperation.STATS);
    return fs.exists(path);
  }

  private void count(MetadataOperation operation) {
    reporter.incrCounter(MetadataOperation.GROUP, operation.name(), 1);
  }
}
