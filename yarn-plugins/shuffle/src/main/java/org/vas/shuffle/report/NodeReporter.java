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
  private Thread thread;
  private SocketChannel connection;
  // The numbers that a node has heard, now and when it was connected.
  private TaskReads heard = TaskReads.NONE;
  private TaskReads before = TaskReads.NONE;

  /**
   * Makes a reporter, which reports when it is told to, or by a thread once that is started.
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
  }

  /** Starts a thread that reports, if this node has a socket for it. */
  public NodeReporter start() {
    if (!sockets.isEmpty()) {
      thread = new Thread(this::reportAll, "vas-shuffle-report");
      thread.setDaemon(true);
      thread.start();
    }
    return this;
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

  private void reportAll() {
    try {
      while (!ends.await(periodMillis, TimeUnit.MILLISECONDS)) {
        report();
      }
      report();
      synchronized (this) {
        disconnect();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Reports the numbers if they have changed, without waiting for the node. After a break the
   * NodeManager may be started again; the next connection counts from what was heard.
   */
  public synchronized void report() {
    TaskReads now = reads.get();
    if (sockets.isEmpty() || now.equals(heard)) {
      return;
    }
    try {
      if (connection == null) {
        connection = connect();
        before = heard;
      }
      send(now.since(before));
      heard = now;
    } catch (IOException e) {
      LOG.debug("The node hears nothing: {}", e.toString());
      disconnect();
    }
  }

  private void send(TaskReads numbers) throws IOException {
    ByteBuffer line = ByteBuffer.wrap(numbers.line().getBytes(StandardCharsets.US_ASCII));
    connection.write(line);
    if (line.hasRemaining()) {
      throw new IOException("the node takes no more");
    }
  }

  private void disconnect() {
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (IOException e) {
      LOG.debug("Closing the connection to the node", e);
    }
    connection = null;
  }

  private SocketChannel connect() throws IOException {
    IOException failure = null;
    for (Path socket : sockets) {
      try {
        return ReportSocket.connectAtOnce(socket);
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
    if (thread != null) {
      try {
        thread.join(END_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return;
    }
    synchronized (this) {
      report();
      disconnect();
    }
  }
}
