package org.vas.workloads.fault;

import java.io.IOException;
import java.net.URI;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.vas.filesystem.LustreFileSystem;

/** {@code lustre:} with the faults that a job names; see {@link FaultPoint}. */
public final class FaultyLustre extends LustreFileSystem {
  private Faults faults;

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    faults = new Faults(conf);
    super.initialize(name, conf);
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    faults.at("open", path);
    return new FSDataInputStream(new FaultyInput(super.open(path, bufferSize), path, faults));
  }

  @Override
  public FSDataInputStream openOwn(Path path, int levels, int bufferSize) throws IOException {
    faults.at("open", path);
    return new FSDataInputStream(
        new FaultyInput(super.openOwn(path, levels, bufferSize), path, faults));
  }

  @Override
  public FSDataOutputStream appendOwn(Path path, int levels, int bufferSize) throws IOException {
    faults.at("open", path);
    return faulty(path, super.appendOwn(path, levels, bufferSize));
  }

  @Override
  public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite,
      int bufferSize, short replication, long blockSize, Progressable progress)
      throws IOException {
    faults.at("create", path);
    return faulty(path, super.create(
        path, permission, overwrite, bufferSize, replication, blockSize, progress));
  }

  @Override
  public FSDataOutputStream createNonRecursive(Path path, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
    faults.at("create", path);
    return faulty(path, super.createNonRecursive(
        path, permission, flags, bufferSize, replication, blockSize, progress));
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    faults.at("open", path);
    return faulty(path, super.append(path, bufferSize, progress));
  }

  private FSDataOutputStream faulty(Path path, FSDataOutputStream out) throws IOException {
    return new FSDataOutputStream(new FaultyOutput(out, path, faults), null, out.getPos());
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    faults.at("rename", destination);
    boolean done = super.rename(source, destination);
    faults.at("renamed", destination);
    return done;
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    faults.at("mkdirs", path);
    return super.mkdirs(path, permission);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    faults.at("status", path);
    return super.getFileStatus(path);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    faults.at("list", path);
    return super.listStatus(path);
  }
}
