package org.vas.shuffle.daemon;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.Progressable;
import org.vas.shuffle.ShuffleConf;
import org.vas.shuffle.merge.ReadTimeout;

/**
 * A connection to this node's daemon for one merge (docs/adr/0021). Each call waits, for a bounded
 * time, and tells of progress meanwhile. Used by one thread.
 */
final class MergeConnection implements Closeable {
  static final byte BLOCK = 13;
  static final byte MERGED = 14;
  private static final byte MERGE = 9;
  private static final byte SEGMENT = 10;
  private static final byte READY = 11;
  private static final byte MERGING = 12;
  private static final long ID = 2;
  private static final int LARGEST_WORDS = 512;

  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  private final ReadTimeout timeout;
  private final Progressable alive;
  private final ByteBuffer header = ByteBuffer.allocate(Handshake.HEADER);
  private long moved = System.nanoTime(); // when something came or went last

  /**
   * Connects, and proves that this task knows the job's secret.
   *
   * @throws RefusedException if the daemon does not know the job, its secret or this user
   * @throws Handshake.OtherVersionException if the daemon does not merge
   * @throws IOException if it cannot be reached, or does not know the secret
   */
  MergeConnection(PartitionToMerge wanted, Progressable alive) throws IOException {
    this.timeout = new ReadTimeout(ShuffleConf.READ_TIMEOUT.get(wanted.conf()));
    this.alive = alive;
    this.channel = DaemonSocket.connect(wanted.conf());
    Selector opened = null;
    try {
      Handshake.prove(channel, Handshake.MERGE, wanted.job(), wanted.secret());
      channel.configureBlocking(false);
      opened = Selector.open();
      this.selector = opened;
      this.key = channel.register(selector, 0);
    } catch (IOException | RuntimeException e) {
      channel.close();
      if (opened != null) {
        opened.close();
      }
      throw e;
    }
  }

  /**
   * Sends the daemon the partition and its segments, and waits until the daemon begins to merge.
   *
   * @param skip how many bytes of the stream this task has already
   * @throws RefusedException if the daemon does not merge this
   */
  void begin(PartitionToMerge wanted, long skip) throws IOException {
    write(Handshake.message(MERGE, ID, wanted.words(skip)));
    expect(READY);
    for (int segment = 0; segment < wanted.segments(); segment++) {
      write(Handshake.message(SEGMENT, ID, wanted.words(segment)));
    }
    expect(MERGING);
  }

  private void expect(byte kind) throws IOException {
    ByteBuffer words = message();
    if (kind() != kind || words.hasRemaining()) {
      throw new IOException("a message of kind " + kind() + " where " + kind + " belongs");
    }
  }

  /** Returns the kind of the last message. */
  byte kind() {
    return header.get(Handshake.KIND);
  }

  /**
   * Returns the words of the daemon's next message; skips those that only tell of its progress.
   *
   * @throws RefusedException if it is a refusal, which ends the merge
   */
  ByteBuffer message() throws IOException {
    while (true) {
      header.clear();
      read(header);
      int length = header.getInt(0);
      if (length < 0 || length > LARGEST_WORDS || header.getLong(Handshake.KIND + 2) != ID) {
        throw new IOException("an answer of the daemon with an impossible length or request number");
      }
      ByteBuffer words = ByteBuffer.allocate(length);
      read(words);
      words.flip();
      if (kind() == Handshake.REFUSED && words.hasRemaining()) {
        throw Handshake.refusal(words);
      }
      if (kind() != Handshake.WORKING) {
        return words;
      }
    }
  }

  /** Fills a buffer with the bytes that follow a message. */
  void read(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      int count = channel.read(bytes);
      if (count < 0) {
        throw new EOFException("the daemon ended the connection");
      }
      waitUnless(count > 0, SelectionKey.OP_READ);
    }
  }

  private void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      waitUnless(channel.write(bytes) > 0, SelectionKey.OP_WRITE);
    }
  }

  private void waitUnless(boolean hasMoved, int operation) throws IOException {
    if (hasMoved) {
      moved = System.nanoTime();
      return;
    }
    key.interestOps(operation);
    selector.select(timeout.tick());
    selector.selectedKeys().clear();
    if (Thread.interrupted()) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the daemon merges");
    }
    alive.progress();
    try {
      timeout.check(new Path("vas-shuffled"), moved, System.nanoTime());
    } catch (IOException e) {
      throw new StalledException(e.getMessage());
    }
  }

  /** Thrown when the daemon gives no sign of life for {@code vas.shuffle.read-timeout}. */
  static final class StalledException extends IOException {
    private static final long serialVersionUID = 1;

    StalledException(String message) {
      super(message);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      selector.close();
    } finally {
      channel.close();
    }
  }
}
