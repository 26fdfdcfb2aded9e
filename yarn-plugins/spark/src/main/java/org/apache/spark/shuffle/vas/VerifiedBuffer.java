package org.apache.spark.shuffle.vas;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Some neighbouring partitions of a map output, read and verified when a stream is made of them.
 * When a task gets the first bytes of one, a thread begins to read the next one's, so that the task
 * need not wait for the servers at each map.
 */
final class VerifiedBuffer extends ManagedBuffer {
  private static final Logger LOG = LoggerFactory.getLogger(VerifiedBuffer.class);
  // At most one thread for each task that reads.
  private static final ExecutorService READERS = Executors.newCachedThreadPool(work -> {
    Thread thread = new Thread(work, "vas-shuffle-read");
    thread.setDaemon(true);
    return thread;
  });

  private final MapFiles map;
  private final BlockPlan plan;
  private VerifiedBuffer next;
  private FutureTask<FirstRead> begun;
  private VerifiedStream stream;
  private boolean over;

  VerifiedBuffer(MapFiles map, BlockPlan plan) {
    this.map = map;
    this.plan = plan;
  }

  /** Says which buffer the same task reads after this one. */
  synchronized void followedBy(VerifiedBuffer following) {
    this.next = following;
  }

  private synchronized VerifiedBuffer next() {
    return next;
  }

  /** Begins to read the next buffer that has bytes. */
  void beginNext() {
    VerifiedBuffer following = next();
    while (following != null && following.plan.blocks() == 0) {
      following = following.next();
    }
    if (following != null) {
      following.begin();
    }
  }

  private synchronized void begin() {
    if (!over && begun == null) {
      begun = new FutureTask<>(() -> FirstRead.of(map, plan));
      READERS.execute(begun);
    }
  }

  /** Returns the first read, which has begun already or is made now; the caller closes it. */
  FirstRead first() throws IOException {
    FutureTask<FirstRead> own = take();
    if (own == null) {
      return FirstRead.of(map, plan);
    }
    map.tally().count(WorkKind.READS_AHEAD);
    try {
      return own.get();
    } catch (ExecutionException e) {
      throw asThrown(e.getCause());
    } catch (InterruptedException e) {
      drop(own);
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the task is being killed");
    }
  }

  // What is no error of the file, such as a lack of memory, must blame no map.
  private static IOException asThrown(Throwable cause) {
    if (cause instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (cause instanceof Error error) {
      throw error;
    }
    return (IOException) cause;
  }

  private synchronized FutureTask<FirstRead> take() {
    FutureTask<FirstRead> own = begun;
    over = true;
    begun = null;
    return own;
  }

  @Override
  public long size() {
    return plan.bytes();
  }

  /** Returns a stream that opens the file later: Spark's fetcher takes no error here. */
  @Override
  public synchronized InputStream createInputStream() {
    stream = new VerifiedStream(map, plan, this);
    return stream;
  }

  @Override
  public ByteBuffer nioByteBuffer() throws IOException {
    try (InputStream in = createInputStream()) {
      return ByteBuffer.wrap(in.readNBytes(Math.toIntExact(size())));
    }
  }

  @Override
  public ManagedBuffer retain() {
    return this;
  }

  /**
   * Closes what is open. Spark releases all buffers of a task when it ends, and does not close the
   * stream of one that was not read to its end.
   */
  @Override
  public ManagedBuffer release() {
    FutureTask<FirstRead> own = take();
    if (own != null) {
      drop(own);
    }
    try {
      closeStream();
    } catch (IOException e) {
      LOG.debug("The file did not close", e);
    }
    return this;
  }

  private synchronized void closeStream() throws IOException {
    if (stream != null) {
      stream.close();
    }
  }

  private static void drop(FutureTask<FirstRead> begun) {
    READERS.execute(() -> {
      try {
        begun.get().close();
      } catch (IOException | ExecutionException | CancellationException e) {
        LOG.debug("Nothing was open, or it did not close", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
  }

  @Override
  public Object convertToNetty() throws IOException {
    return Unpooled.wrappedBuffer(nioByteBuffer());
  }

  @Override
  public Object convertToNettyForSsl() throws IOException {
    return convertToNetty();
  }
}
