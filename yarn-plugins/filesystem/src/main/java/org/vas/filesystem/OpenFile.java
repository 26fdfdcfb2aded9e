package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * An open file that any thread may read and write at any position, by pread(2) and pwrite(2).
 *
 * <p>It is made of an asynchronous channel whose work the caller does itself, because such a
 * channel ignores interrupts. A {@code FileChannel} closes itself for all its users when a thread
 * in it is interrupted, as the MapReduce AM does to the thread that writes the job history.
 */
final class OpenFile implements Closeable {
  private static final ExecutorService IN_THE_CALLER = new InTheCaller();
  // The JDK copies through a direct buffer as large as the request, and keeps it for the thread.
  private static final int LARGEST_CALL = 1 << 20;

  /** Turns an error of a call on bytes of the file into the exception to throw. */
  @FunctionalInterface
  private interface Told {
    IOException of(String call, long offset, long length, IOException error);
  }

  private final AsynchronousFileChannel channel;
  private final Optional<Descriptor> held;
  private final Told told;

  private OpenFile(AsynchronousFileChannel channel, Optional<Descriptor> held, Told told) {
    this.channel = requireNonNull(channel, "channel");
    this.held = requireNonNull(held, "held");
    this.told = requireNonNull(told, "told");
  }

  /**
   * Opens an existing file.
   *
   * @param access {@code READ} or {@code WRITE}
   * @throws IOException of java.nio, if the file is not there or may not be opened
   */
  static OpenFile of(Path file, StandardOpenOption access) throws IOException {
    return new OpenFile(channel(file, access), Optional.empty(), OpenFile::asItIs);
  }

  /**
   * Returns this open file with other messages: when a storage server fails, the error names the
   * file and the OSTs that hold the bytes in question. The two share one channel, so closing one
   * closes both.
   *
   * @param file the path by which people know the file
   */
  OpenFile telling(OstFaults faults, Path file) {
    return new OpenFile(channel, held, (call, offset, length, error) ->
        faults.of(file, call, offset, length, error));
  }

  /**
   * Returns this open file with its bytes read and written through the channel that {@code calls}
   * makes.
   *
   * @param file leads to the file; not used for a file that {@link #holding} opened
   * @throws IOException if the channel cannot be made; this file is closed then
   */
  OpenFile by(ClientCalls calls, Path file) throws IOException {
    Path leads = held.map(Descriptor::path).orElse(file);
    try {
      return new OpenFile(calls.bytes(leads, channel), held, told);
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  private static IOException asItIs(String call, long offset, long length, IOException error) {
    return error;
  }

  /**
   * Opens for writing the file that a descriptor leads to. Closing the file closes the descriptor
   * too.
   *
   * @throws IOException if the file cannot be opened; the descriptor is closed then
   */
  static OpenFile holding(Descriptor held) throws IOException {
    try {
      return new OpenFile(channel(held.path(), StandardOpenOption.WRITE), Optional.of(held),
          OpenFile::asItIs);
    } catch (IOException e) {
      held.close();
      throw e;
    }
  }

  private static AsynchronousFileChannel channel(Path file, StandardOpenOption access)
      throws IOException {
    return AsynchronousFileChannel.open(file, Set.of(access), IN_THE_CALLER);
  }

  /**
   * Fails if somebody has removed or replaced the file since it was opened, so that it has no name
   * any more: nobody will read what was written. Checks only files that {@link #holding} opened.
   *
   * @throws IOException if the file has no name any more, or cannot be looked at
   */
  void checkKept() throws IOException {
    if (held.isPresent() && held.get().id().links() == 0) {
      throw new IOException("removed or replaced by another while it was written;"
          + " what was written is lost: write it again, with one writer");
    }
  }

  /**
   * Reads bytes into a buffer: at most as many as it has room for, and at most 1 MiB.
   *
   * @param position offset in the file of the first byte to read
   * @return the number of bytes read; -1 at the end of the file
   */
  int read(ByteBuffer target, long position) throws IOException {
    int limit = target.limit();
    target.limit(Math.min(limit, target.position() + LARGEST_CALL));
    try {
      return result(channel.read(target, position));
    } catch (IOException e) {
      throw told.of("read", position, target.remaining(), e);
    } finally {
      target.limit(limit);
    }
  }

  /**
   * Writes all remaining bytes of a buffer.
   *
   * @param position offset in the file at which the first byte is written
   */
  void write(ByteBuffer source, long position) throws IOException {
    int limit = source.limit();
    long at = position;
    try {
      while (source.position() < limit) {
        source.limit(Math.min(limit, source.position() + LARGEST_CALL));
        at += result(channel.write(source, at));
      }
    } catch (IOException e) {
      throw told.of("write", at, source.remaining(), e);
    } finally {
      source.limit(limit);
    }
  }

  long size() throws IOException {
    try {
      return channel.size();
    } catch (IOException e) {
      throw told.of("stat", 0, Long.MAX_VALUE, e);
    }
  }

  /** Cuts the file to a length in bytes; a file that is shorter stays as it is. */
  void truncate(long length) throws IOException {
    try {
      channel.truncate(length);
    } catch (IOException e) {
      throw told.of("truncate", 0, Long.MAX_VALUE, e);
    }
  }

  /**
   * Waits until the file's bytes are on the servers' disks, and with {@code metadata} its times
   * too.
   */
  void force(boolean metadata) throws IOException {
    try {
      channel.force(metadata);
    } catch (IOException e) {
      throw told.of("fsync", 0, Long.MAX_VALUE, e);
    }
  }

  boolean isOpen() {
    return channel.isOpen();
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      if (held.isPresent()) {
        held.get().close();
      }
    }
  }

  // The work is done by the time there is a future, so that nothing waits here.
  private static int result(Future<Integer> done) throws IOException {
    try {
      return done.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException
          ? (IOException) e.getCause() : new IOException(e.getCause());
    }
  }

  private static final class InTheCaller extends AbstractExecutorService {
    @Override
    public void execute(Runnable work) {
      work.run();
    }

    // It has no threads to stop, and the JDK stops no executor that it was given.
    @Override
    public void shutdown() {}

    @Override
    public List<Runnable> shutdownNow() {
      return List.of();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return false;
    }
  }
}
