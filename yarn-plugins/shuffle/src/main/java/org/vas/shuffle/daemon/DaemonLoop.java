package org.vas.shuffle.daemon;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.crypto.SecretKey;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.shuffle.daemon.DaemonReads.Asking;
import org.vas.shuffle.merge.ServerQueues;

/** The thread of {@link DaemonReads}: it starts requests, and reads their answers as they come. */
final class DaemonLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(DaemonLoop.class);
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final DaemonReads reads;
  private final JobConf conf;
  private final JobID job;
  private final SecretKey secret;
  private final Runnable eachSecond;
  private final Selector selector;
  // All below are the thread's alone.
  private final Deque<DaemonConnection> idle = new ArrayDeque<>();
  private final Map<DaemonConnection, ServerQueues.Taken<Asking>> busy = new HashMap<>();
  private final List<Asking> later = new ArrayList<>();
  private long lastSecond = System.nanoTime();

  DaemonLoop(DaemonReads reads, JobConf conf, JobID job, SecretKey secret, Runnable eachSecond)
      throws IOException {
    this.reads = reads;
    this.conf = conf;
    this.job = job;
    this.secret = secret;
    this.eachSecond = eachSecond;
    this.selector = Selector.open();
  }

  void wakeUp() {
    selector.wakeup();
  }

  @Override
  public void run() {
    try {
      while (!reads.isClosed()) {
        turn();
      }
    } catch (IOException e) {
      reads.failed(e);
    } finally {
      end();
    }
  }

  private void turn() throws IOException {
    takeDue();
    if (start()) {
      selector.selectNow();
    } else {
      selector.select(millisToWait());
    }
    for (SelectionKey key : selector.selectedKeys()) {
      if (key.isValid()) {
        read((DaemonConnection) key.attachment());
      }
    }
    selector.selectedKeys().clear();
    if (System.nanoTime() - lastSecond >= SECOND_NANOS) {
      lastSecond = System.nanoTime();
      eachSecond.run();
    }
  }

  private long millisToWait() {
    long wait = TimeUnit.NANOSECONDS.toMillis(SECOND_NANOS);
    for (Asking each : later) {
      wait = Math.min(wait, each.millisUntilDue());
    }
    return Math.max(1, wait);
  }

  private void takeDue() {
    later.removeIf(asking -> {
      boolean due = asking.millisUntilDue() == 0;
      if (due) {
        reads.again(asking);
      }
      return due;
    });
  }

  /**
   * Starts requests until as many are on their way as may be. Returns true after it read a local file:
   * answers that came meanwhile are then read before the next local file is.
   */
  private boolean start() {
    while (busy.size() < DaemonReads.CONNECTIONS && !reads.isClosed()) {
      ServerQueues.Taken<Asking> taken = reads.queues().poll();
      if (taken == null) {
        return false;
      }
      try {
        start(taken);
      } catch (Throwable e) { // the thread has to go on, and others wait for what it did not do
        done(taken);
        reads.failed(e);
      }
      if (taken.work().request == null) {
        return true;
      }
    }
    return false;
  }

  private void start(ServerQueues.Taken<Asking> taken) {
    Asking asking = taken.work();
    reads.began(asking);
    if (asking.request == null) {
      asking.readLocal();
      done(taken);
    } else if (asking.isNew() && !asking.request.begin()) {
      done(taken);
    } else {
      asking.tried();
      ask(taken);
    }
  }

  private void ask(ServerQueues.Taken<Asking> taken) {
    DaemonConnection connection = null;
    try {
      connection = idle.isEmpty() ? connect() : idle.pop();
      connection.ask(taken.work().request);
      busy.put(connection, taken);
    } catch (IOException e) {
      drop(connection);
      failed(taken, e);
    }
  }

  // Not a refusal of the map's node: that would have the map run again for what is wrong here.
  private DaemonConnection connect() throws IOException {
    DaemonConnection made;
    try {
      made = new DaemonConnection(DaemonSocket.connect(conf), job, secret);
    } catch (RefusedException e) {
      throw new IOException("this node's vas-shuffled refuses " + job + ": " + e.getMessage(), e);
    }
    try {
      made.register(selector).attach(made);
      return made;
    } catch (IOException | RuntimeException e) {
      made.close();
      throw e;
    }
  }

  private void read(DaemonConnection connection) {
    ServerQueues.Taken<Asking> taken = busy.get(connection);
    try {
      if (taken == null) {
        // An idle connection gets bytes only when the daemon ends it.
        idle.remove(connection);
        drop(connection);
      } else if (connection.advance(() -> taken.work().calling(taken.work().file))) {
        answered(connection, taken);
      }
    } catch (RefusedException e) {
      busy.remove(connection);
      idle.push(connection);
      failed(taken, e);
    } catch (IOException e) {
      busy.remove(connection);
      drop(connection);
      failed(taken, e);
    } catch (Throwable e) { // an OutOfMemoryError as an answer is read, say
      busy.remove(connection);
      drop(connection);
      done(taken);
      taken.work().request.fail(e);
    }
  }

  private void answered(DaemonConnection connection, ServerQueues.Taken<Asking> taken)
      throws IOException {
    Asking asking = taken.work();
    asking.succeeded();
    if (asking.request.next()) {
      asking.tried();
      asking.calling(asking.file);
      connection.ask(asking.request);
      return;
    }
    busy.remove(connection);
    idle.push(connection);
    done(taken);
    try {
      asking.request.succeed();
    } catch (Throwable e) { // a wrong checksum, or what the one who waits cannot take
      asking.request.fail(e);
    }
  }

  private void failed(ServerQueues.Taken<Asking> taken, IOException cause) {
    Asking asking = taken.work();
    done(taken);
    long pause = reads.pause(asking, cause);
    if (pause < 0) {
      asking.request.fail(cause);
      return;
    }
    LOG.info("{}: asking again: {}", asking.request.at(), cause.toString());
    asking.later(pause);
    later.add(asking);
  }

  private void done(ServerQueues.Taken<Asking> taken) {
    reads.ended(taken.work());
    reads.queues().done(taken);
  }

  // Of a daemon that was started again all connections are dead.
  private void drop(DaemonConnection connection) {
    if (connection != null) {
      close(connection);
    }
    idle.forEach(DaemonLoop::close);
    idle.clear();
  }

  private static void close(DaemonConnection connection) {
    try {
      connection.close();
    } catch (IOException e) {
      LOG.debug("Closing a connection to the daemon", e);
    }
  }

  private void end() {
    IOException ending = new IOException("the task is ending");
    List<Asking> left = new ArrayList<>(later);
    busy.forEach((connection, taken) -> {
      close(connection);
      done(taken);
      left.add(taken.work());
    });
    drop(null);
    left.forEach(asking -> asking.request.fail(ending));
    try {
      selector.close();
    } catch (IOException e) {
      LOG.debug("Closing a selector", e);
    }
  }
}
