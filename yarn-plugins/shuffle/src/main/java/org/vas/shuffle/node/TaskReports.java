package org.vas.shuffle.node;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.report.ReportSocket;
import org.vas.shuffle.report.TaskReads;

/**
 * Sums the reads that this node's reduce tasks report. A task that ends, however it ends, closes
 * its connection: its counters stay in the sums, and its open segments go.
 *
 * <p>Tasks are users' programs. A task that sends anything but growing numbers is not listened to
 * any more; a task that lies spoils the sums of its node, and nothing else.
 */
final class TaskReports implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(TaskReports.class);
  private static final int MOST_TASKS = 4096;
  private static final long END_MILLIS = 1000;

  private final NodeMetrics metrics;
  private final Selector selector;
  private final List<ServerSocketChannel> servers = new ArrayList<>();
  private final List<Path> sockets = new ArrayList<>();
  private final Thread thread;
  private volatile boolean closing;
  private int tasks;

  /** A task's connection: the text that is not a line yet, and the numbers of its last line. */
  private static final class Report {
    private final ByteBuffer text = ByteBuffer.allocate(TaskReads.LONGEST_LINE);
    private TaskReads last = TaskReads.NONE;
  }

  private TaskReports(NodeMetrics metrics) throws IOException {
    this.metrics = requireNonNull(metrics, "metrics");
    this.selector = Selector.open();
    this.thread = new Thread(this::serve, "vas-shuffle-reports");
    thread.setDaemon(true);
  }

  /**
   * Listens in each local directory of the NodeManager.
   *
   * @throws IOException if it can listen in none; the message says why
   */
  static TaskReports open(Configuration conf, NodeMetrics metrics) throws IOException {
    TaskReports reports = new TaskReports(metrics);
    List<String> failures = new ArrayList<>();
    for (String directory : conf.getTrimmedStrings(YarnConfiguration.NM_LOCAL_DIRS)) {
      Path local = Path.of(directory.replaceFirst("^file:/+", "/")).toAbsolutePath();
      try {
        reports.listen(ReportSocket.below(local));
      } catch (IOException | RuntimeException e) {
        failures.add(local + ": " + e);
      }
    }
    if (reports.servers.isEmpty()) {
      reports.close();
      throw new IOException(String.join("; ", failures));
    }
    reports.thread.start();
    return reports;
  }

  private void listen(Path socket) throws IOException {
    ServerSocketChannel server = ReportSocket.listen(socket);
    servers.add(server);
    sockets.add(socket);
    server.configureBlocking(false);
    server.register(selector, SelectionKey.OP_ACCEPT);
  }

  private void serve() {
    try {
      while (!closing) {
        selector.select();
        List<SelectionKey> ready = List.copyOf(selector.selectedKeys());
        selector.selectedKeys().clear();
        ready.forEach(this::handle);
      }
    } catch (Throwable e) {  // an Error that leaves this thread halts the NodeManager
      LOG.warn("The reads of reduce tasks are not counted any more", e);
    }
  }

  private void handle(SelectionKey key) {
    try {
      if (!key.isValid()) {
        return;
      }
      if (key.isAcceptable()) {
        accept((ServerSocketChannel) key.channel());
      } else if (!read(key)) {
        end(key);
      }
    } catch (IOException e) {
      LOG.debug("A task's report broke off: {}", e.toString());
      end(key);
    }
  }

  private void accept(ServerSocketChannel server) throws IOException {
    SocketChannel task = server.accept();
    if (task == null) {
      return;
    }
    if (tasks >= MOST_TASKS) {
      task.close();
      return;
    }
    tasks++;
    metrics.started();
    task.configureBlocking(false);
    task.register(selector, SelectionKey.OP_READ, new Report());
  }

  /** Takes the lines that have come; returns false where the task has ended or sends other text. */
  private boolean read(SelectionKey key) throws IOException {
    Report report = (Report) key.attachment();
    if (((SocketChannel) key.channel()).read(report.text) < 0) {
      return false;
    }
    report.text.flip();
    for (Optional<String> line = line(report.text); line.isPresent(); line = line(report.text)) {
      Optional<TaskReads> now = TaskReads.parse(line.get());
      if (now.isEmpty() || !now.get().canFollow(report.last)) {
        return false;
      }
      metrics.reads(report.last, now.get());
      report.last = now.get();
    }
    report.text.compact();
    return report.text.hasRemaining();
  }

  private static Optional<String> line(ByteBuffer text) {
    for (int at = text.position(); at < text.limit(); at++) {
      if (text.get(at) == '\n') {
        byte[] line = new byte[at - text.position()];
        text.get(line).position(at + 1);
        return Optional.of(new String(line, StandardCharsets.US_ASCII));
      }
    }
    return Optional.empty();
  }

  private void end(SelectionKey key) {
    if (!(key.attachment() instanceof Report)) {
      return; // a server's, which goes on
    }
    metrics.ended(((Report) key.attachment()).last);
    tasks--;
    key.cancel();
    try {
      key.channel().close();
    } catch (IOException e) {
      LOG.debug("A task's connection: {}", e.toString());
    }
  }

  /** Ends the connections, and removes the sockets. */
  @Override
  public void close() throws IOException {
    if (!selector.isOpen()) {
      return;
    }
    closing = true;
    selector.wakeup();
    try {
      thread.join(END_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (SelectionKey key : List.copyOf(selector.keys())) {
      key.channel().close();
    }
    selector.close();
    for (Path socket : sockets) {
      Files.deleteIfExists(socket);
    }
  }
}
