package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.function.LongConsumer;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.impl.StoreImplementationUtils;

/**
 * Writes a file through one buffer. After an error nothing more is written, and every later call
 * fails with it, {@link #close} too: a file with a gap must never look complete. After {@link
 * #hflush}, {@link #hsync} and, unless the file is lazy, {@link #close} the bytes are on the
 * storage servers' disks: in this client's page cache alone they would be lost with the client.
 */
final class LustreOutputStream extends OutputStream implements Syncable, StreamCapabilities {
  private final Path path;
  private final OpenFile file;
  private final ByteBuffer buffer;
  private final boolean lazy;
  private LongConsumer counter = bytes -> { };
  private long position;
  private boolean isOnDisk;
  private IOException firstError;

  /**
   * Takes over an open file.
   *
   * @param file open for writing; closed with the stream
   * @param position offset in the file, in bytes, of the first byte to write
   * @param bufferSize bytes
   * @param lazy whether {@link #close} may leave the bytes in this client's memory
   */
  LustreOutputStream(Path path, OpenFile file, long position, int bufferSize, boolean lazy) {
    this.path = requireNonNull(path, "path");
    this.file = requireNonNull(file, "file");
    this.position = position;
    this.buffer = ByteBuffer.allocate(bufferSize);
    this.lazy = lazy;
  }

  /** Tells {@code counter} from now on how many bytes each write to the file took; returns this. */
  synchronized LustreOutputStream counting(LongConsumer counter) {
    this.counter = requireNonNull(counter, "counter");
    return this;
  }

  /** Returns the offset in the file, in bytes, at which the next byte is written. */
  synchronized long position() {
    return position + buffer.position();
  }

  @Override
  public synchronized void write(int value) throws IOException {
    checkUsable();
    if (!buffer.hasRemaining()) {
      drain();
    }
    buffer.put((byte) value);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
    checkUsable();
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
    checkUsable();
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
    try (OpenFile closing = file) {
      if (closing.isOpen()) {
        checkUsable();
        drain();
        finish();
      }
    }
  }

  private synchronized void force(boolean metadata) throws IOException {
    flush();
    sync(metadata);
  }

  // An empty file is synced too: on Lustre that makes the MDT write its journal, and with _SUCCESS
  // the renames of a whole job are on disk.
  private void finish() throws IOException {
    if (!lazy && !isOnDisk) {
      sync(true);
    } else {
      checkKept();
    }
  }

  private void sync(boolean metadata) throws IOException {
    try {
      file.force(metadata);
    } catch (IOException e) {
      throw remembered("fsync", e);
    }
    checkKept();
    isOnDisk = true;
  }

  private void checkKept() throws IOException {
    try {
      file.checkKept();
    } catch (IOException e) {
      firstError = new IOException(path + ": " + e.getMessage(), e);
      throw firstError;
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
    int before = bytes.position();
    isOnDisk &= !bytes.hasRemaining();
    try {
      file.write(bytes, position);
    } catch (IOException e) {
      throw remembered("write", e);
    } finally {
      position += bytes.position() - before;
      counter.accept(bytes.position() - before);
    }
  }

  private IOException remembered(String call, IOException error) {
    firstError = IoErrors.explained(path, call, error);
    return firstError;
  }

  // A new exception each time: try-with-resources cannot suppress one by itself.
  private void checkUsable() throws IOException {
    if (!file.isOpen()) {
      throw new IOException(path + ": " + FSExceptionMessages.STREAM_IS_CLOSED);
    }
    if (firstError != null) {
      throw new IOException(
          path + ": not complete after an earlier error: " + firstError.getMessage(), firstError);
    }
  }
}
