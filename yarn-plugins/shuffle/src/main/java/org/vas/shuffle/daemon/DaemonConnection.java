package org.vas.shuffle.daemon;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import javax.crypto.SecretKey;
import org.apache.hadoop.mapred.JobID;

/**
 * A connection to this node's daemon. It has one request on its way at most, whose answer is read
 * as it comes. Used by one thread.
 */
final class DaemonConnection implements Closeable {
  /** The largest piece of a segment in one answer, in bytes. */
  static final int LARGEST_READ = 1 << 20;

  /** The largest segment whose bytes come with a look, in bytes. */
  static final int LARGEST_HELD = 128 << 10;
  static final byte LOOK = 3;
  static final byte READ = 4;
  static final byte LOOKED = 5;
  static final byte DATA = 6;
  private static final int MOST_CHECKSUMS = 1 << 18;
  private static final int LARGEST_ANSWER = 24 + 4 * MOST_CHECKSUMS + LARGEST_HELD;

  private final SocketChannel channel;
  private final JobID job;
  private final ByteBuffer header = ByteBuffer.allocate(Handshake.HEADER);
  private long id = 1; // of the last request; the first was the proof
  private DaemonRequest request;
  // The answer's parts in their order; null before it is known how long they are.
  private ByteBuffer body;
  private ByteBuffer following;

  /**
   * Makes a connection: greets the daemon, and proves to it that this task knows the job's secret.
   * Waits for the daemon's answers, for which it needs no other node. The channel is closed if that
   * fails.
   *
   * @throws RefusedException if the daemon does not know the job, its secret or this user
   * @throws IOException if the daemon is of another version, or cannot prove that it knows the
   *     secret
   */
  DaemonConnection(SocketChannel channel, JobID job, SecretKey secret) throws IOException {
    this.channel = channel;
    this.job = job;
    Handshake.prove(channel, Handshake.READS, job, secret);
    try {
      channel.configureBlocking(false);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** Registers the channel with a selector, which then tells when there is something to read. */
  SelectionKey register(Selector selector) throws IOException {
    return channel.register(selector, SelectionKey.OP_READ);
  }

  /** Sends a request; the answer to the one before must be complete. */
  void ask(DaemonRequest asked) throws IOException {
    request = asked;
    write(Handshake.message(asked.kind(), ++id, asked.body(job)));
  }

  /**
   * Reads what has come of the answer; returns whether that is all of it.
   *
   * @param working is called whenever the map's node shows progress
   * @throws RefusedException if the request is refused; the connection can be used again
   * @throws IOException if the connection is of no use any more
   */
  boolean advance(Runnable working) throws IOException {
    while (isFull(header)) {
      if (body == null) {
        body = ByteBuffer.allocate(checkedLength());
      }
      if (!isFull(body)) {
        return false;
      }
      if (following == null) {
        if (isWorking()) {
          restart();
          working.run();
          continue;
        }
        following = following();
      }
      if (!isFull(following)) {
        return false;
      }
      restart();
      return true;
    }
    return false;
  }

  private boolean isWorking() {
    return header.get(Handshake.KIND) == Handshake.WORKING && body.capacity() == 0;
  }

  private ByteBuffer following() throws IOException {
    byte kind = header.get(Handshake.KIND);
    ByteBuffer answer = body.flip();
    if (request == null) {
      throw new IOException("an answer of the daemon to no request");
    }
    if (kind == Handshake.REFUSED && answer.hasRemaining()) {
      restart();
      throw Handshake.refusal(answer);
    }
    if (kind != request.answerKind()) {
      throw new IOException("an answer of kind " + kind + " to a request of kind " + request.kind());
    }
    ByteBuffer bytes = request.answered(answer);
    return bytes == null ? ByteBuffer.allocate(0) : bytes;
  }

  private void restart() {
    header.clear();
    body = null;
    following = null;
  }

  /** Returns the length in a header, whose flags say nothing here. */
  private int checkedLength() throws IOException {
    int length = header.getInt(0);
    if (length < 0 || length > LARGEST_ANSWER || header.getLong(Handshake.KIND + 2) != id) {
      throw new IOException("an answer of the daemon with an impossible length or request number");
    }
    return length;
  }

  private boolean isFull(ByteBuffer part) throws IOException {
    while (part.hasRemaining()) {
      if (fill(part) == 0) {
        return false;
      }
    }
    return true;
  }

  private int fill(ByteBuffer part) throws IOException {
    int count = channel.read(part);
    if (count < 0) {
      throw new EOFException("the daemon ended the connection");
    }
    return count;
  }

  // The daemon has read all before it answered, so that the socket has room for one request.
  private void write(ByteBuffer bytes) throws IOException {
    channel.write(bytes);
    if (bytes.hasRemaining()) {
      throw new IOException("the daemon does not read a request");
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
