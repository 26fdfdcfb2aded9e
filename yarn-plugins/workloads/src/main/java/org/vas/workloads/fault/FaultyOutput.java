package org.vas.workloads.fault;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.Syncable;

/** An output stream whose writes meet the planned faults. */
final class FaultyOutput extends OutputStream implements Syncable {
  private final FSDataOutputStream out;
  private final Path path;
  private final Faults faults;

  FaultyOutput(FSDataOutputStream out, Path path, Faults faults) {
    this.out = requireNonNull(out, "out");
    this.path = requireNonNull(path, "path");
    this.faults = requireNonNull(faults, "faults");
  }

  @Override
  public void write(int value) throws IOException {
    faults.at("write", path);
    out.write(value);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    faults.at("write", path);
    out.write(bytes, offset, length);
  }

  @Override
  public void flush() throws IOException {
    out.flush();
  }

  @Override
  public void hflush() throws IOException {
    faults.at("sync", path);
    out.hflush();
  }

  @Override
  public void hsync() throws IOException {
    faults.at("sync", path);
    out.hsync();
  }

  @Override
  public void close() throws IOException {
    try {
      faults.at("close", path);
    } finally {
      out.close();
    }
  }
}
