package org.vas.shuffle.report;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports a reduce task's reads to its node: each second in which they change, and at the end. The
 * task goes on whether the node hears it or not, and waits for it at its end only, for a moment.
 */
public final class NodeReporter implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeReporter.class);
  private static final long PERIOD_MILLIS = 1000;
  private static final long END_MILLIS = 500;

  private final List<Path> sockets;
  private final Supplier<TaskReads> reads;
  private final long periodMillis;
  private final CountDownLatch ends = new CountDownLatch(1);
  private final Thread thread;
  // The numbers that a node has heard; of the thread alone.
  private TaskReads heard = TaskReads.NONE;

  /**
   * Starts to report, if this node has a socket for it.
   *
   * @param job a task's configuration, with its local directories
   * @param reads returns the task's numbers so far; called by another thread
   */
  public NodeReporter(Configuration job, Supplier<TaskReads> reads) {
    this(job, reads, PERIOD_MILLIS);
  }

  NodeReporter(Configuration job, Supplier<TaskReads> reads, long periodMillis) {
    this.sockets = sockets(job);
    this.reads = requireNonNull(reads, "reads");
    this.periodMillis = periodMillis;
    this.thread = new Thread(this::report, "vas-shuffle-report");
    thread.setDaemon(true);
    if (!sockets.isEmpty()) {
      thread.start();
    }
  }

  private static List<Path> sockets(Configuration job) {
    List<Path> found = new ArrayList<>();
    for (String directory : job.getTrimmedStrings(MRConfig.LOCAL_DIR)) {
      Path socket = ReportSocket.ofTask(Path.of(directory));
      if (socket != null && Files.exists(socket)) {
        found.add(socket);
      }
    }
    return found;
  }

  private void report() {
    try {
      // After a break the NodeManager may be started again; the next connection counts from what
      // was heard.
      while (!reportByOneConnection() && !ends.await(periodMillis, TimeUnit.MILLISECONDS)) {
        LOG.debug("Connecting to the node again");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Reports until the connection breaks or the task ends; returns whether the task has ended. */
  private boolean reportByOneConnection() throws InterruptedException {
    TaskReads before = heard;
    try (SocketChannel connection = connect()) {
      boolean ended = false;
      while (!ended) {
        ended = ends.await(periodMillis, TimeUnit.MILLISECONDS);
        TaskReads now = reads.get();
        if (!now.equals(heard)) {
          send(connection, now.since(before));
          heard = now;
        }
      }
      return true;
    } catch (IOException e) {
      LOG.debug("The node hears nothing: {}", e.toString());
      return false;
    }
  }

  private static void send(SocketChannel connection, TaskReads numbers) throws IOException {
    ByteBuffer line = ByteBuffer.wrap(numbers.line().getBytes(StandardCharsets.US_ASCII));
    while (line.hasRemaining()) {
      connection.write(line);
    }
  }

  private SocketChannel connect() throws IOException {
    IOException failure = null;
    for (Path socket : sockets) {
      try {
        return ReportSocket.connect(socket);
      } catch (IOException e) {
        failure = e;
      }
    }
    throw requireNonNull(failure, "a task without sockets has no thread");
  }

  /** Reports the last numbers, and ends; a node that does not take them is not waited for. */
  @Override
  public void close() {
    ends.countDown();
    try {
      thread.join(END_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
