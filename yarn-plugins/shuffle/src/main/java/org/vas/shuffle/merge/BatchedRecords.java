package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.RawRecords;

/**
 * The records of a merge that runs in a thread of its own, some batches ahead: when all batches are
 * full, it waits. Each batch is checked to be in order by the thread that takes it.
 */
public final class BatchedRecords extends RawRecords {
  private static final int WAIT_MILLIS = 1000;

  private final Merge merge;
  private final Conservation conservation;
  private final OrderCheck order;
  private final Progressable alive;
  private final BlockingQueue<Batch> full;
  private final BlockingQueue<Batch> free;
  private final Semaphore large = new Semaphore(1); // records larger than a batch, on their way
  private final Batch last = new Batch(1);
  private final Thread thread;
  private volatile Throwable failure;

  private Batch batch = last;
  private byte[] data;
  private int[] ends;
  private int index; // in ends, of the next record's key
  private int limit;
  private int offset;
  private boolean ended;
  private long records;
  private long rawBytes;
  private long moves; // of the merge, when it was last looked at

  /**
   * Starts the merge.
   *
   * @param order sees each record first, in the thread that takes it
   * @param alive is told of progress, by the thread that takes records, when the merge made some
   */
  public BatchedRecords(Merge merge, Conservation conservation, OrderCheck order,
      MemoryPlan memory, Progressable alive) {
    this.merge = requireNonNull(merge, "merge");
    this.conservation = requireNonNull(conservation, "conservation");
    this.order = requireNonNull(order, "order");
    this.alive = requireNonNull(alive, "alive");
    this.full = new ArrayBlockingQueue<>(MemoryPlan.BATCHES + 1);
    this.free = new ArrayBlockingQueue<>(MemoryPlan.BATCHES);
    for (int i = 0; i < MemoryPlan.BATCHES; i++) {
      free.add(new Batch(memory.batchBytes()));
    }
    this.thread = Daemons.start("vas-merge", this::mergeAll, this::failed);
  }

  // ---- The merge thread.

  // Whatever it is, reduce() must not wait for more.
  private void failed(Throwable cause) {
    failure = cause;
    full.offer(last);
  }

  private void mergeAll() {
    try {
      Batch filling = free.take();
      while (merge.next()) {
        while (!filling.add(
            merge.data(), merge.offset(), merge.keyLength(), merge.valueLength())) {
          filling = withRoom(filling, merge.keyLength() + merge.valueLength());
        }
      }
      full.put(filling);
      full.put(last);
    } catch (InterruptedException | IOException e) {
      failed(e);
    }
  }

  private Batch withRoom(Batch filling, int length) throws InterruptedException {
    if (filling.records() > 0) {
      full.put(filling);
      return free.take();
    }
    large.acquire();
    filling.grow(length);
    return filling;
  }

  // ---- The thread of reduce().

  @Override
  public boolean next() throws IOException {
    if (index == limit && !nextBatch()) {
      return false;
    }
    int middle = ends[index];
    int end = ends[index + 1];
    show(data, offset, middle - offset, end - middle);
    offset = end;
    index += 2;
    return true;
  }

  private boolean nextBatch() throws IOException {
    if (ended) {
      return false;
    }
    throwFailure();
    if (batch != last) {
      if (batch.clear()) {
        large.release();
      }
      free.add(batch);
    }
    do {
      batch = take();
      if (batch == last) {
        end();
        return false;
      }
    } while (batch.records() == 0);
    checkOrder();
    records += batch.records();
    rawBytes += batch.rawBytes();
    progressed(rawBytes, conservation.rawBytes());
    data = batch.data();
    ends = batch.ends();
    offset = 0;
    index = 0;
    limit = 2 * batch.records();
    return true;
  }

  private void checkOrder() throws IOException {
    try {
      order.check(batch);
    } catch (IOException e) {
      // Whoever hides it and asks for more is told again.
      failure = e;
      throw e;
    }
  }

  private Batch take() throws IOException {
    try {
      Batch taken = null;
      while (taken == null) {
        taken = full.poll(WAIT_MILLIS, TimeUnit.MILLISECONDS);
        throwFailure();
        if (taken != null || hasMoved()) {
          alive.progress();
        }
      }
      return taken;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted").initCause(e);
    }
  }

  // A comparator or a codec that never returns must not look alive: then the task's time-out ends
  // it. What waits for the file system says so itself, and for a bounded time.
  private boolean hasMoved() {
    long now = merge.moves();
    boolean moved = now != moves;
    moves = now;
    return moved;
  }

  private void throwFailure() throws IOException {
    Throwable cause = failure;
    if (cause != null) {
      throw cause instanceof DisorderException ? (DisorderException) cause
          : new IOException("the merge failed: "
              + (cause instanceof IOException ? cause.getMessage() : cause), cause);
    }
  }

  private void end() throws IOException {
    try {
      conservation.check(records, rawBytes);
    } catch (IOException e) {
      // Whoever hides it and asks for more is told again.
      failure = e;
      throw e;
    }
    ended = true;
    index = 0;
    limit = 0;
    showNothing();
  }

  /**
   * Interrupts the thread that merges, and waits for it for a bounded time. The inputs are closed
   * if it has ended by then.
   */
  @Override
  public void close() throws IOException {
    thread.interrupt();
    try {
      thread.join(WAIT_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!thread.isAlive()) {
      merge.close();
    }
  }
}
