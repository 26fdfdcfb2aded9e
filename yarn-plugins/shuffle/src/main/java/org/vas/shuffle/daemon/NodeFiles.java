package org.vas.shuffle.daemon;

import static java.util.Objects.requireNonNull;

import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;

/** A local file system that also opens segments of other nodes, by {@link SegmentAddress#path}. */
public final class NodeFiles extends FilterFileSystem {
  private final DaemonLinks links;

  /** Opens segments of nodes by these links, and everything else in the local file system. */
  public NodeFiles(FileSystem local, DaemonLinks links) {
    super(local);
    this.links = requireNonNull(links, "links");
  }

  @Override
  public FSDataInputStream open(Path path, int bufferBytes) throws IOException {
    return SegmentAddress.SCHEME.equals(path.toUri().getScheme())
        ? new FSDataInputStream(new RemoteSegment(links, SegmentAddress.of(path)))
        : super.open(path, bufferBytes);
  }

  /** The stored bytes of one segment, read where the caller says. */
  private static final class RemoteSegment extends FSInputStream {
    private final DaemonLinks links;
    private final SegmentAddress at;
    private long position;

    private RemoteSegment(DaemonLinks links, SegmentAddress at) {
      this.links = links;
      this.at = at;
    }

    @Override
    public void readFully(long from, byte[] buffer, int offset, int length) throws IOException {
      try {
        links.read(at, from, buffer, offset, length);
      } catch (EOFException e) {
        // Of the connection, not of the segment, which ends only where its sizes say.
        throw new IOException(at + ": " + e.getMessage(), e);
      }
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      readFully(position++, one, 0, 1);
      return one[0] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      readFully(position, buffer, offset, length);
      position += length;
      return length;
    }

    @Override
    public void seek(long to) {
      position = to;
    }

    @Override
    public long getPos() {
      return position;
    }

    @Override
    public boolean seekToNewSource(long target) {
      return false;
    }
  }
}
