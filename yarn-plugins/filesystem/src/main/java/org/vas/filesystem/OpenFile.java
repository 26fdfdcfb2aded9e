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
 * Reads and writes at positions of an open file, by pread(2) and pwrite(2), from any thread.
 *
 * <p>It is made of an asynchronous channel whose work the caller does itself, because that one
 * ignores interrupts. A {@code FileChannel} closes itself for all its users when a thread in it is
 * interrupted, as the MapReduce AM does to the thread that writes the job history.
 */
final class OpenFile implements Closeable {
  private static final ExecutorService IN_THE_CALLER = new InTheCaller();
  // The JDK copies through a direct buffer as large as the request, and keeps it for the thread.
  private static final int LARGEST_CALL = 1 << 20;

  /** Makes of an error of a call on bytes the one to throw. */
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

  /** Opens an existing file, for reading or for writing. */
  static OpenFile of(Path file, StandardOpenOption access) throws IOException {
    return new OpenFile(channel(file, access), Optional.empty(), OpenFile::asItIs);
  }

  /** Returns this open file with errors of storage servers that name it and its OSTs. */
  OpenFile telling(OstFaults faults, Path file) {
    return new OpenFile(channel, held, (call, offset, length, error) ->
        faults.of(file, call, offset, length, error));
  }

  /** Returns this open file with its bytes by the calls' channel. Throws, and closes it, where there is none. */
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

  /** Opens for writing what a descriptor leads to; it is closed with this, or if that fails. */
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
   * Fails if the file, where it was opened by a descriptor, has no name any more: what was written
   * since somebody removed or replaced it, nobody will read.
   */
  void checkKept() throws IOException {
    if (held.isPresent() && held.get().id().links() == 0) {
      throw new IOException("removed or replaced by another while it was written;"
          + " what was written is lost: write it again, with one writer");
    }
  }

  /** Reads at most what the buffer has room for: the bytes read, or -1 at the end of the file. */
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

  /** Writes all that the buffer has. */
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

  /** Cuts the file to that many bytes; one that is shorter stays as it is. */
  void truncate(long length) throws IOException {
    try {
      channel.truncate(length);
    } catch (IOException e) {
      throw told.of("truncate", 0, Long.MAX_VALUE, e);
    }
  }

  /** Waits until the bytes are on disk, and with {@code metadata} the times too. */
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
