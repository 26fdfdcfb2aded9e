package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.impl.StoreImplementationUtils;

/**
 * Writes a file through one buffer. After {@link #hflush} and {@link #hsync} the bytes are on the
 * storage servers' disks: less would leave them in this client's page cache, which is lost with it.
 */
final class LustreOutputStream extends OutputStream implements Syncable, StreamCapabilities {
  private static final int LARGEST_CALL = 1 << 20;

  private final Path path;
  private final FileChannel channel;
  private final ByteBuffer buffer;

  LustreOutputStream(Path path, FileChannel channel, int bufferSize) {
    this.path = requireNonNull(path, "path");
    this.channel = requireNonNull(channel, "channel");
    this.buffer = ByteBuffer.allocate(bufferSize);
  }

  @Override
  public synchronized void write(int value) throws IOException {
    checkOpen();
    if (!buffer.hasRemaining()) {
      drain();
    }
    buffer.put((byte) value);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
    checkOpen();
    if (length > buffer.remaining()) {
      drain();
    }
    if (length > buffer.remaining()) {
      write(ByteBuffer.wrap(bytes, offset, length));
    } else {
      buffer.put(bytes, offset, length);
    }
  }

  /** Hands the bytes to the operating system: readers on every client see them. */
  @Override
  public synchronized void flush() throws IOException {
    checkOpen();
    drain();
  }

  @Override
  public void hflush() throws IOException {
    force(false);
  }

  @Override
  public void hsync() throws IOException {
    force(true);
  }

  @Override
  public boolean hasCapability(String capability) {
    return StoreImplementationUtils.isProbeForSyncable(capability);
  }

  @Override
  public synchronized void close() throws IOException {
    try (FileChannel closing = channel) {
      if (closing.isOpen()) {
        drain();
      }
    }
  }

  private synchronized void force(boolean metadata) throws IOException {
    flush();
    try {
      channel.force(metadata);
    } catch (IOException e) {
      throw IoErrors.explained(path, "fsync", e);
    }
  }

  private void drain() throws IOException {
    buffer.flip();
    try {
      write(buffer);
    } finally {
      buffer.compact();
    }
  }

  private void write(ByteBuffer bytes) throws IOException {
    int limit = bytes.limit();
    try {
      while (bytes.position() < limit) {
        bytes.limit(Math.min(limit, bytes.position() + LARGEST_CALL));
        channel.write(bytes);
      }
    } catch (IOException e) {
      throw IoErrors.explained(path, "write", e);
    } finally {
      bytes.limit(limit);
    }
  }

  private void checkOpen() throws IOException {
    if (!channel.isOpen()) {
      throw new IOException(path + ": " + FSExceptionMessages.STREAM_IS_CLOSED);
    }
  }
}
