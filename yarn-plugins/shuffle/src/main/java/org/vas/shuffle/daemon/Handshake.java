package org.vas.shuffle.daemon;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.SecretKey;
import org.apache.hadoop.mapred.JobID;

/** The beginning of each connection to this node's daemon, and the frame of its messages. */
final class Handshake {
  /** Bytes of a header: length of the body, kind, flags, number of the request. */
  static final int HEADER = 14;

  /** The offset of the kind in a header. */
  static final int KIND = Integer.BYTES;

  static final byte REFUSED = 7;
  static final byte WORKING = 8;

  /** The greeting of a connection for looks and reads. */
  static final String READS = "VASJBS02";

  /** The greeting of a connection for one merge. */
  static final String MERGE = "VASJBM03";

  private static final byte AUTH = 1;
  private static final byte AUTHENTICATED = 2;
  private static final int LARGEST_ANSWER = 512;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Handshake() {}

  /** Thrown when the daemon does not know a greeting. */
  static final class OtherVersionException extends IOException {
    private static final long serialVersionUID = 1;

    OtherVersionException(String message) {
      super(message);
    }
  }

  /**
   * Greets the daemon, and proves to it that this task knows the job's secret. Waits for the daemon's
   * answers, for which it needs no other node. The channel is closed if that fails.
   *
   * @param channel in blocking mode, which it has afterwards too
   * @param greeting of 8 letters
   * @throws RefusedException if the daemon does not know the job, its secret or this user
   * @throws OtherVersionException if the daemon is of another version
   * @throws IOException if the daemon cannot prove that it knows the secret
   */
  static void prove(SocketChannel channel, String greeting, JobID job, SecretKey secret)
      throws IOException {
    try {
      byte[] magic = greeting.getBytes(StandardCharsets.US_ASCII);
      Proofs proofs = greet(channel, magic, job, secret);
      write(channel, message(AUTH, 1, ByteBuffer.allocate(12 + Proofs.BYTES)
          .put(Proofs.jobBytes(job)).put(proofs.asker()).array()));
      check(channel, proofs);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private static Proofs greet(SocketChannel channel, byte[] magic, JobID job, SecretKey secret)
      throws IOException {
    byte[] nonce = new byte[Proofs.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    write(channel, ByteBuffer.allocate(magic.length + nonce.length).put(magic).put(nonce).flip());
    byte[] theirs = read(channel, magic.length + nonce.length).array();
    if (!Arrays.equals(magic, Arrays.copyOf(theirs, magic.length))) {
      throw new OtherVersionException(otherVersion(theirs, magic));
    }
    byte[] answered = Arrays.copyOfRange(theirs, magic.length, theirs.length);
    return new Proofs(nonce, answered, job, secret);
  }

  private static String otherVersion(byte[] theirs, byte[] ours) {
    String told = new String(theirs, 0, ours.length, StandardCharsets.ISO_8859_1);
    return told.matches("VASJB[A-Z][0-9]{2}")
        ? "this node's vas-shuffled speaks " + told + ", and this job's VAS "
            + new String(ours, StandardCharsets.US_ASCII) + ": install one version on all nodes"
        : "what answers at this node's socket is not vas-shuffled";
  }

  private static void check(SocketChannel channel, Proofs proofs) throws IOException {
    ByteBuffer header = read(channel, HEADER);
    int length = header.getInt();
    byte kind = header.get(KIND);
    if (length < 0 || length > LARGEST_ANSWER || header.getLong(KIND + 2) != 1) {
      throw new IOException("an answer of the daemon with an impossible length or request number");
    }
    ByteBuffer answer = read(channel, length);
    if (kind == REFUSED && answer.hasRemaining()) {
      throw refusal(answer);
    }
    byte[] proof = new byte[Proofs.BYTES];
    if (kind != AUTHENTICATED || answer.remaining() != proof.length) {
      throw new IOException("an answer of kind " + kind + " to a proof");
    }
    answer.get(proof);
    if (!proofs.isAnswerer(proof)) {
      throw new IOException("a vas-shuffled that does not know the job's secret");
    }
  }

  /** Returns a whole message, ready to be written. */
  static ByteBuffer message(byte kind, long id, byte[] words) {
    return ByteBuffer.allocate(HEADER + words.length).putInt(words.length).put(kind).put((byte) 0)
        .putLong(id).put(words).flip();
  }

  /** Returns the refusal with this body, which is not empty. */
  static RefusedException refusal(ByteBuffer answer) throws IOException {
    DaemonRefusal refusal = DaemonRefusal.of(answer.get());
    return new RefusedException(refusal, StandardCharsets.UTF_8.decode(answer).toString());
  }

  private static ByteBuffer read(SocketChannel channel, int count) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes) < 0) {
        throw new EOFException("the daemon ended the connection");
      }
    }
    return bytes.flip();
  }

  // The daemon reads all before it answers, so that the socket has room for it.
  private static void write(SocketChannel channel, ByteBuffer bytes) throws IOException {
    channel.write(bytes);
    if (bytes.hasRemaining()) {
      throw new IOException("the daemon does not read a request");
    }
  }
}
