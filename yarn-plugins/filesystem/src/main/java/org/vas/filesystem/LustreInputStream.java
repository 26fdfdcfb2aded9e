package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.Locale;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;

/**
 * Reads a file by pread(2). Positioned reads share nothing, so any number of threads may make them;
 * sequential reads go through one buffer. Short reads are counted with the longer one that follows,
 * before the next read of the file, at the latest by {@link #seek}, {@link #unbuffer} or {@link
 * #close}: to count a short record takes as long as to copy it.
 */
final class LustreInputStream extends FSInputStream
    implements ByteBufferReadable, ByteBufferPositionedReadable, CanUnbuffer, StreamCapabilities {
  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
  // Bytes; a read of fewer is short.
  private static final int SHORT = 256;

  private final Path path;
  private final OpenFile file;
  private final ReadCounter counter;
  private final int bufferSize;
  private ByteBuffer buffer = EMPTY;
  private long position;
  private long counted;

  LustreInputStream(Path path, OpenFile file, ReadCounter counter, int bufferSize) {
    this.path = requireNonNull(path, "path");
    this.file = requireNonNull(file, "file");
    this.counter = requireNonNull(counter, "counter");
    this.bufferSize = bufferSize;
  }

  @Override
  public synchronized void seek(long target) throws IOException {
    checkOpen();
    if (target < 0) {
      throw new EOFException(path + ": " + FSExceptionMessages.NEGATIVE_SEEK + ": " + target);
    }
    long skip = target - position;
    if (skip >= -buffer.position() && skip <= buffer.remaining()) {
      buffer.position(buffer.position() + (int) skip);
    } else if (target > file.size()) {
      throw new EOFException(
          path + ": " + FSExceptionMessages.CANNOT_SEEK_PAST_EOF + ": " + target);
    } else {
      buffer = buffer.limit(0);
    }
    count();
    position = target;
    counted = target;
  }

  @Override
  public synchronized long getPos() {
    return position;
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public synchronized int available() throws IOException {
    checkOpen();
    return (int) Math.max(0, Math.min(Integer.MAX_VALUE, file.size() - position));
  }

  @Override
  public synchronized int read() throws IOException {
    if (!fill()) {
      return -1;
    }
    int value = buffer.get() & 0xFF;
    position++;
    return value;
  }

  @Override
  public synchronized int read(byte[] bytes, int offset, int length) throws IOException {
    validatePositionedReadArgs(position, bytes, offset, length);
    if (length == 0 || length > buffer.remaining()) {
      return read(ByteBuffer.wrap(bytes, offset, length));
    }
    // What readers of small records do for each of them: nothing is allocated.
    checkOpen();
    buffer.get(bytes, offset, length);
    advance(length);
    return length;
  }

  @Override
  public synchronized int read(ByteBuffer target) throws IOException {
    checkOpen();
    if (!target.hasRemaining()) {
      return 0;
    }
    if (!buffer.hasRemaining() && target.remaining() >= bufferSize) {
      int count = pread(position, target);
      position += Math.max(0, count);
      count();
      return count;
    }
    return fill() ? copyTo(target) : -1;
  }

  @Override
  public int read(long from, byte[] bytes, int offset, int length) throws IOException {
    validatePositionedReadArgs(from, bytes, offset, length);
    return read(from, ByteBuffer.wrap(bytes, offset, length));
  }

  @Override
  public int read(long from, ByteBuffer target) throws IOException {
    checkOpen();
    if (from < 0) {
      throw new EOFException(path + ": " + FSExceptionMessages.NEGATIVE_SEEK + ": " + from);
    }
    if (!target.hasRemaining()) {
      return 0;
    }
    int count = pread(from, target);
    counter.add(from, count);
    return count;
  }

  @Override
  public void readFully(long from, ByteBuffer target) throws IOException {
    long at = from;
    while (target.hasRemaining()) {
      int count = read(at, target);
      if (count < 0) {
        throw new EOFException(path + ": " + FSExceptionMessages.EOF_IN_READ_FULLY);
      }
      at += count;
    }
  }

  @Override
  public synchronized void unbuffer() {
    count();
    buffer = EMPTY;
  }

  @Override
  public boolean hasCapability(String capability) {
    switch (capability.toLowerCase(Locale.ROOT)) {
      case StreamCapabilities.READBYTEBUFFER:
      case StreamCapabilities.PREADBYTEBUFFER:
      case StreamCapabilities.UNBUFFER:
        return true;
      default:
        return false;
    }
  }

  @Override
  public synchronized void close() throws IOException {
    count();
    file.close();
  }

  private int copyTo(ByteBuffer target) {
    int count = Math.min(target.remaining(), buffer.remaining());
    target.put(buffer.duplicate().limit(buffer.position() + count));
    buffer.position(buffer.position() + count);
    advance(count);
    return count;
  }

  private void advance(int length) {
    position += length;
    if (length >= SHORT) {
      count();
    }
  }

  private void count() {
    counter.add(counted, position - counted);
    counted = position;
  }

  /** Makes sure that the buffer has a byte; false at the end of the file. */
  private boolean fill() throws IOException {
    checkOpen();
    if (buffer.hasRemaining()) {
      return true;
    }
    count();
    if (buffer.capacity() == 0) {
      buffer = ByteBuffer.allocate(bufferSize);
    }
    buffer.clear();
    try {
      return pread(position, buffer) > 0;
    } finally {
      buffer.flip();
    }
  }

  private int pread(long from, ByteBuffer target) throws IOException {
    try {
      return file.read(target, from);
    } catch (IOException e) {
      throw IoErrors.explained(path, "read at " + from, e);
    }
  }

  private void checkOpen() throws IOException {
    if (!file.isOpen()) {
      throw closed();
    }
  }

  private IOException closed() {
    IOException error = new IOException(path + ": " + FSExceptionMessages.STREAM_IS_CLOSED);
    error.initCause(new ClosedChannelException());
    return error;
  }
}
