package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.mof.ReadMeter;
import org.vas.shuffle.mof.Segment;
import org.vas.shuffle.mof.SegmentFile;
import org.vas.shuffle.mof.SegmentReader;

/**
 * Reads the stored bytes of a segment ahead, and verifies them: while one buffer is used, a thread
 * of the pool fills the other. A segment has one read on its way at most.
 */
final class ReadAhead implements Chunks {
  private static final int BUFFERS = 2;

  private final SegmentFile source;
  private final SegmentReader reader;
  private final SegmentReads pool;
  private final Progressable progress;
  private final int bufferBytes;

  private final Deque<byte[]> free = new ArrayDeque<>();
  private final Deque<Filled> filled = new ArrayDeque<>();
  private Filled current;
  private int buffers;
  private long unrequested;
  private boolean reading;
  private boolean started;
  private boolean closed;
  private Throwable failure;

  private static final class Filled {
    private final byte[] bytes;
    private final int length;

    private Filled(byte[] bytes, int length) {
      this.bytes = bytes;
      this.length = length;
    }
  }

  /** A buffer on its way. */
  private final class Filling implements SegmentReads.Fill {
    private final byte[] buffer;

    private Filling(byte[] buffer) {
      this.buffer = buffer;
    }

    @Override
    public SegmentReader reader() {
      return reader;
    }

    @Override
    public byte[] buffer() {
      return buffer;
    }

    @Override
    public boolean begin() {
      return ReadAhead.this.begin();
    }

    @Override
    public void end(int length, Throwable error) {
      filled(length > 0 && error == null ? new Filled(buffer, length) : null, error);
    }
  }

  /**
   * Makes a reader of one segment; nothing is read before {@link #request}.
   *
   * @param bufferBytes of each of two buffers, a multiple of 64 KiB; see {@link #memory}
   */
  ReadAhead(FileSystem fs, SegmentFile source, ReadMeter meter, SegmentReads pool,
      Progressable progress, int bufferBytes) {
    this.source = requireNonNull(source, "source");
    this.reader = new SegmentReader(fs, source, meter);
    this.pool = requireNonNull(pool, "pool");
    this.progress = requireNonNull(progress, "progress");
    source.held().ifPresent(bytes -> filled.add(new Filled(bytes, bytes.length)));
    this.unrequested = filled.isEmpty() ? source.segment().storedBytes() : 0;
    this.bufferBytes = (int) Math.min(bufferBytes, unrequested);
  }

  /** Returns the number of bytes of both buffers for that segment. */
  static long memory(Segment segment, int bufferBytes) {
    return Math.min((long) BUFFERS * bufferBytes, segment.storedBytes());
  }

  /** Requests the next chunk if a buffer is free and none is being read. */
  synchronized void request() {
    if (closed || reading || failure != null || unrequested == 0
        || (free.isEmpty() && buffers == BUFFERS)) {
      return;
    }
    byte[] buffer = free.isEmpty() ? allocate() : free.poll();
    unrequested -= Math.min(buffer.length, unrequested);
    reading = true;
    pool.fill(source, new Filling(buffer));
  }

  // The second buffer of a segment that is shorter than two need only hold the rest.
  private byte[] allocate() {
    buffers++;
    return new byte[(int) Math.min(bufferBytes, unrequested)];
  }

  // From here until filled() only the pool may use the reader.
  private synchronized boolean begin() {
    started = !closed;
    return started;
  }

  private synchronized void filled(Filled result, Throwable error) {
    reading = false;
    started = false;
    failure = error;
    try {
      if (closed) {
        closeReader();
      } else if (result != null) {
        filled.add(result);
        request();
      }
    } catch (Throwable e) { // as there is no memory for a buffer
      reading = false;
      failure = e;
    }
    notifyAll();
  }

  @Override
  public synchronized boolean next() throws IOException {
    if (current != null) {
      free.add(current.bytes);
      current = null;
      request();
    }
    awaitRead();
    if (!filled.isEmpty()) {
      current = filled.poll();
      progress.progress();
      return true;
    }
    if (failure != null) {
      throw failed();
    }
    return false;
  }

  private IOException failed() {
    String message =
        failure instanceof IOException ? String.valueOf(failure.getMessage()) : failure.toString();
    boolean named = message.contains(source.file().getName());
    return new IOException(named ? message : source + ": " + message, failure);
  }

  private synchronized void awaitRead() throws IOException {
    try {
      while (filled.isEmpty() && reading) {
        wait(pool.tick());
        // Not for ever: the check fails when a call of the file system takes too long.
        progress.progress();
        pool.check();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException(source + ": interrupted").initCause(e);
    }
  }

  @Override
  public synchronized byte[] data() {
    return current.bytes;
  }

  @Override
  public int start() {
    return 0;
  }

  @Override
  public synchronized int end() {
    return current.length;
  }

  // IFile's own checksum is left: every byte was verified by a better one.
  @Override
  public void finish() {}

  @Override
  public synchronized void close() {
    closed = true;
    free.clear();
    filled.clear();
    current = null;
    // A request that still waits for a thread may never get one: the pool drops it when it ends.
    if (!started) {
      closeReader();
    }
  }

  private void closeReader() {
    try {
      reader.close();
    } catch (IOException e) {
      if (failure == null) {
        failure = e;
      }
    }
  }
}
