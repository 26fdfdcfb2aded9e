package org.vas.workloads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Local files whose permissions are set and read without starting a program. */
public final class LocalFiles extends LocalFileSystem {
  /** For Hadoop. */
  public LocalFiles() {
    super(new Raw());
  }

  private static final class Raw extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      String mode = permission.getUserAction().SYMBOL + permission.getGroupAction().SYMBOL
          + permission.getOtherAction().SYMBOL;
      Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(mode));
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      return plain(super.getFileStatus(path));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      return Arrays.stream(super.listStatus(path)).map(Raw::plain).toArray(FileStatus[]::new);
    }

    /** Without owner and permission. */
    private static FileStatus plain(FileStatus status) {
      return new FileStatus(status.getLen(), status.isDirectory(), status.getReplication(),
          status.getBlockSize(), status.getModificationTime(), status.getPath());
    }
  }
}
