package org.vas.workloads.fault;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.Path;

/** An input stream whose reads meet the planned faults. */
final class FaultyInput extends FSInputStream {
  private final FSDataInputStream in;
  private final Path path;
  private final Faults faults;

  FaultyInput(FSDataInputStream in, Path path, Faults faults) {
    this.in = requireNonNull(in, "in");
    this.path = requireNonNull(path, "path");
    this.faults = requireNonNull(faults, "faults");
  }

  @Override
  public int read() throws IOException {
    faults.read(path, 1);
    return in.read();
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    return in.read(bytes, offset, faults.read(path, length));
  }

  @Override
  public int read(long position, byte[] bytes, int offset, int length) throws IOException {
    return in.read(position, bytes, offset, faults.read(path, length));
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
  public boolean seekToNewSource(long target) throws IOException {
    return in.seekToNewSource(target);
  }

  @Override
  public int available() throws IOException {
    return in.available();
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
