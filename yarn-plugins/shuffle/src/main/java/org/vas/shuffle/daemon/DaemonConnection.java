package org.vas.shuffle.daemon;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.SecretKey;
import org.apache.hadoop.mapred.JobID;
import org.vas.shuffle.mof.Segment;

/** One connection to this node's daemon, with one request on its way. Not for several threads. */
final class DaemonConnection implements Closeable {
  /** The largest piece of a segment in one answer, and the largest that comes with a look. */
  static final int LARGEST_READ = 1 << 20;

  static final int LARGEST_HELD = 128 << 10;
  private static final byte[] MAGIC = "VASJBS02".getBytes(StandardCharsets.US_ASCII);
  private static final int HEADER = 14;
  private static final int KIND = Integer.BYTES;
  private static final int MOST_CHECKSUMS = 1 << 18;
  private static final int LARGEST_ANSWER = 24 + 4 * MOST_CHECKSUMS + LARGEST_HELD;
  private static final byte AUTH = 1;
  private static final byte AUTHENTICATED = 2;
  private static final byte LOOK = 3;
  private static final byte READ = 4;
  private static final byte LOOKED = 5;
  private static final byte DATA = 6;
  private static final byte REFUSED = 7;
  private static final byte WORKING = 8;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final ByteChannel channel;
  private final JobID job;
  private long id;

  /**
   * Greets the daemon, and proves a job to it; the channel is closed if that fails.
   *
   * @throws RefusedException if the daemon does not know the job, its secret or this user
   */
  DaemonConnection(ByteChannel channel, JobID job, SecretKey secret) throws IOException {
    this.channel = channel;
    this.job = job;
    try {
      prove(secret);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private void prove(SecretKey secret) throws IOException {
    byte[] nonce = new byte[Proofs.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    write(ByteBuffer.allocate(MAGIC.length + nonce.length).put(MAGIC).put(nonce).flip());
    byte[] theirs = read(MAGIC.length + nonce.length).array();
    if (!Arrays.equals(MAGIC, Arrays.copyOf(theirs, MAGIC.length))) {
      throw new IOException("not a vas-shuffled of this version");
    }
    Proofs proofs = new Proofs(
        nonce, Arrays.copyOfRange(theirs, MAGIC.length, theirs.length), job, secret);
    byte[] body = ByteBuffer.allocate(12 + Proofs.BYTES)
        .put(Proofs.jobBytes(job)).put(proofs.asker()).array();
    byte[] answer = new byte[Proofs.BYTES];
    ask(AUTH, body, AUTHENTICATED, () -> {}).get(answer);
    if (!proofs.isAnswerer(answer)) {
      throw new IOException("a vas-shuffled that does not know the job's secret");
    }
  }

  /**
   * Returns sizes and checksums of a segment, and its bytes if there are at most {@code hold}.
   *
   * @param working is called whenever the map's node shows progress
   */
  LookedSegment look(SegmentAddress at, int hold, boolean verify, Runnable working)
      throws IOException {
    byte[] what = ByteBuffer.allocate(Integer.BYTES + 1)
        .putInt(hold).put((byte) (verify ? 1 : 0)).array();
    ByteBuffer answer = ask(LOOK, at.request(job, what), LOOKED, working);
    if (answer.remaining() < 2 * Long.BYTES + Integer.BYTES) {
      throw doesNotAddUp(at);
    }
    long stored = answer.getLong();
    long raw = answer.getLong();
    int count = answer.getInt();
    if (stored < 0 || raw < 0 || count != (stored == 0 ? 0 : Segment.checksumsOf(stored))
        || answer.remaining() < (long) Integer.BYTES * count + Integer.BYTES) {
      throw doesNotAddUp(at);
    }
    int[] checksums = new int[count];
    for (int i = 0; i < count; i++) {
      checksums[i] = answer.getInt();
    }
    int holds = answer.getInt();
    if (holds != answer.remaining() || (holds != 0 && holds != stored)) {
      throw doesNotAddUp(at);
    }
    byte[] held = new byte[holds];
    answer.get(held);
    return new LookedSegment(stored, raw, checksums, held);
  }

  private static IOException doesNotAddUp(SegmentAddress at) {
    return new IOException(at + ": the daemon's answer does not add up");
  }

  /**
   * Fills a part of a buffer with the bytes of a segment from {@code offset} on.
   * @throws IOException if the daemon refuses, or its answer does not add up
   */
  void read(SegmentAddress at, long offset, byte[] buffer, int start, int length)
      throws IOException {
    byte[] what = ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
        .putLong(offset).putInt(length).array();
    int following = ask(READ, at.request(job, what), DATA, () -> {}).getInt();
    if (following != length) {
      throw new IOException(at + ": " + following + " bytes for " + length);
    }
    readInto(ByteBuffer.wrap(buffer, start, length));
  }

  private ByteBuffer ask(byte kind, byte[] body, byte expected, Runnable working)
      throws IOException {
    write(ByteBuffer.allocate(HEADER + body.length).putInt(body.length).put(kind).put((byte) 0)
        .putLong(++id).put(body).flip());
    ByteBuffer header = header();
    while (header.get(KIND) == WORKING && header.getInt(0) == 0) {
      working.run();
      header = header();
    }
    byte answered = header.get(KIND);
    ByteBuffer answer = read(header.getInt(0));
    if (answered == REFUSED && answer.hasRemaining()) {
      DaemonRefusal refusal = DaemonRefusal.of(answer.get());
      throw new RefusedException(
          refusal, StandardCharsets.UTF_8.decode(answer).toString());
    }
    if (answered != expected) {
      throw new IOException("an answer of kind " + answered + " to a request of kind " + kind);
    }
    return answer;
  }

  /** Reads length and kind of a message, flags, which say nothing here, and the number of the request. */
  private ByteBuffer header() throws IOException {
    ByteBuffer header = read(HEADER);
    int length = header.getInt(0);
    if (length < 0 || length > LARGEST_ANSWER || header.getLong(KIND + 2) != id) {
      throw new IOException("an answer of the daemon that is none");
    }
    return header;
  }

  private void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  private ByteBuffer read(int count) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    readInto(bytes);
    return bytes.flip();
  }

  private void readInto(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      if (channel.read(bytes) < 0) {
        throw new EOFException("the daemon ended the connection");
      }
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
