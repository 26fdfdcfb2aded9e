package org.vas.shuffle.mof;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FSDataOutputStream;

/** A MOF that is being written: segments one after another, with gaps where they are aligned. */
public final class MofOutput implements Closeable {
  private static final byte[] GAP = new byte[4 << 10];

  private final String name;
  private final int index;
  private final FSDataOutputStream file;

  /**
   * Makes an output at the end of a file that is open for writing; {@link #close} closes the file.
   *
   * @param index the file's place among those of its manifest
   */
  public MofOutput(String name, int index, FSDataOutputStream file) {
    this.name = requireNonNull(name, "name");
    this.index = index;
    this.file = requireNonNull(file, "file");
  }

  /** Returns an output that discards all bytes. */
  static MofOutput nowhere() throws IOException {
    return new MofOutput("nowhere", 0,
        new FSDataOutputStream(OutputStream.nullOutputStream(), null));
  }

  /** Returns the place among the files of the manifest. */
  public int index() {
    return index;
  }

  /** Returns the length of the file so far, in bytes. */
  public long position() {
    return file.getPos();
  }

  /** Fills up with zeros, so that the next segment starts at a multiple of {@code bytes}. */
  public void alignTo(long bytes) throws IOException {
    for (long left = (bytes - position() % bytes) % bytes; left > 0; ) {
      int part = (int) Math.min(left, GAP.length);
      file.write(GAP, 0, part);
      left -= part;
    }
  }

  OutputStream stream() {
    return file;
  }

  /** Returns the description of this file for the manifest, as of now. */
  public MofFile describe() {
    return new MofFile(name, position());
  }

  /** Writes all bytes through to the disks of the storage servers. */
  public void sync() throws IOException {
    file.hsync();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
