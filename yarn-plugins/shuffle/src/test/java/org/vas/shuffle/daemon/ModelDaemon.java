package org.vas.shuffle.daemon;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRConfig;

/** A daemon that answers what a test wants, on the socket of a local directory. */
public final class ModelDaemon implements Closeable {
  private static final byte[] SECRET = {1, -2, 3, -4};
  private static final int BLOCK = 64 << 10;
  private static final byte LOOK = 3;

  private final ServerSocketChannel server;
  private final Script script;
  private final AtomicInteger asked = new AtomicInteger();
  private volatile boolean oldest;

  /** Says what the daemon does with one request. */
  @FunctionalInterface
  public interface Script {
    /** Answers the request with this number, the first being 1. */
    void answer(int number, Answers answers) throws IOException;
  }

  /** Starts a daemon, and makes a job's local directory lie beside its socket. */
  public ModelDaemon(Path dir, JobConf job, Script script) throws IOException {
    this.script = script;
    Path local = dir.resolve("nm");
    job.set(MRConfig.LOCAL_DIR,
        Files.createDirectories(local.resolve("usercache/alice/appcache/application_1_0001")).toString());
    Path socket = Files.createDirectories(local.resolve("vas-shuffled")).resolve("socket");
    this.server = listen(socket);
    daemon(this::acceptAll);
  }

  // The tests are compiled for Java 11, and Unix sockets came with Java 16.
  private static ServerSocketChannel listen(Path socket) throws IOException {
    try {
      ServerSocketChannel made = (ServerSocketChannel) ServerSocketChannel.class
          .getMethod("open", ProtocolFamily.class)
          .invoke(null, StandardProtocolFamily.valueOf("UNIX"));
      return made.bind((SocketAddress) Class.forName("java.net.UnixDomainSocketAddress")
          .getMethod("of", Path.class).invoke(null, socket));
    } catch (ReflectiveOperationException e) {
      throw new IOException(e);
    }
  }

  private static void daemon(Runnable body) {
    Thread thread = new Thread(body, "model-daemon");
    thread.setDaemon(true);
    thread.start();
  }

  /** Knows looks and reads alone from here on, as the daemons of the first release do. */
  public ModelDaemon oldest() {
    oldest = true;
    return this;
  }

  /** Returns how many requests came. */
  public int asked() {
    return asked.get();
  }

  /** Returns the job's secret, which this daemon knows. */
  public static SecretKey secret() {
    return new SecretKeySpec(SECRET, "HmacSHA1");
  }

  private void acceptAll() {
    try {
      while (true) {
        ByteChannel channel = server.accept();
        daemon(() -> serve(channel));
      }
    } catch (IOException e) {
      // The test is over.
    }
  }

  private void serve(ByteChannel channel) {
    try (channel) {
      byte[] greeting = read(channel, 40);
      byte[] nonce = new byte[32];
      byte[] known = oldest ? "VASJBS02".getBytes(StandardCharsets.US_ASCII) : Arrays.copyOf(greeting, 8);
      write(channel, ByteBuffer.allocate(40).put(known).put(nonce).flip());
      if (!Arrays.equals(known, Arrays.copyOf(greeting, 8))) {
        return;
      }
      byte[] auth = request(channel);
      write(channel, message(2, ByteBuffer.wrap(auth).getLong(6), proof(greeting, nonce, auth)));
      while (true) {
        ByteBuffer request = ByteBuffer.wrap(request(channel));
        script.answer(asked.incrementAndGet(), new Answers(channel, request));
      }
    } catch (IOException | GeneralSecurityException e) {
      // The connection ended, or the test ends it.
    }
  }

  private static byte[] proof(byte[] greeting, byte[] nonce, byte[] auth)
      throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
    mac.update("vas-jbs 1 answerer\0".getBytes(StandardCharsets.US_ASCII));
    mac.update(greeting, 8, 32);
    mac.update(nonce);
    mac.update(auth, 14, 12);
    return mac.doFinal();
  }

  private static byte[] request(ByteChannel channel) throws IOException {
    byte[] header = read(channel, 14);
    byte[] body = read(channel, ByteBuffer.wrap(header).getInt());
    return ByteBuffer.allocate(14 + body.length).put(header).put(body).array();
  }

  private static ByteBuffer message(int kind, long id, byte[] body) {
    return ByteBuffer.allocate(14 + body.length)
        .putInt(body.length).put((byte) kind).put((byte) 0).putLong(id).put(body).flip();
  }

  private static byte[] read(ByteChannel channel, int count) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes) < 0) {
        throw new EOFException();
      }
    }
    return bytes.array();
  }

  private static void write(ByteChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }

  /** One request, and the ways to answer it. */
  public static final class Answers {
    private final ByteChannel channel;
    private final ByteBuffer request;

    private Answers(ByteChannel channel, ByteBuffer request) {
      this.channel = channel;
      this.request = request;
    }

    /** Returns the number of the map that is asked for. */
    public int map() {
      return request.getInt(14 + 12);
    }

    /** Returns the number of the map attempt that is asked for. */
    public int attempt() {
      return request.getInt(14 + 16);
    }

    /** Returns the kind of the message. */
    public int kind() {
      return request.get(4);
    }

    /** Returns the number of the 8 bytes at this offset of the message's words. */
    public long number(int offset) {
      return request.getLong(14 + offset);
    }

    /** Sends bytes that belong to the message before them. */
    public void send(byte[] bytes, int offset, int length) throws IOException {
      write(channel, ByteBuffer.wrap(bytes, offset, length));
    }

    /** Sends a message that answers this one. */
    public void say(int kind, byte[] body) throws IOException {
      write(channel, message(kind, request.getLong(6), body));
    }

    /** Says that the request is being worked on. */
    public void working() throws IOException {
      say(8, new byte[0]);
    }

    /** Refuses the request. */
    public void refuse(int number, String text) throws IOException {
      byte[] line = text.getBytes(StandardCharsets.UTF_8);
      say(7, ByteBuffer.allocate(1 + line.length).put((byte) number).put(line).array());
    }

    /** Answers a look at this segment, or a read of it, as a map's node does that has it. */
    public void serve(byte[] stored, int rawBytes) throws IOException {
      if (request.get(4) == LOOK) {
        int hold = request.getInt(14 + 24);
        looked(stored, rawBytes, stored.length <= hold);
      } else {
        int offset = (int) request.getLong(14 + 24);
        int length = request.getInt(14 + 32);
        say(6, ByteBuffer.allocate(4).putInt(length).array());
        write(channel, ByteBuffer.wrap(stored, offset, length));
      }
    }

    /** Returns whether bytes of a segment are asked for, and not a look at it. */
    public boolean isRead() {
      return request.get(4) != LOOK;
    }

    /** Answers a read by its first bytes only. */
    public void serveHalf(byte[] stored) throws IOException {
      int offset = (int) request.getLong(14 + 24);
      int length = request.getInt(14 + 32);
      say(6, ByteBuffer.allocate(4).putInt(length).array());
      write(channel, ByteBuffer.wrap(stored, offset, length / 2));
    }

    /** Answers a look by all bytes, of which one is not what its checksum says. */
    public void serveWrong(byte[] stored, int rawBytes, int at) throws IOException {
      byte[] body = lookedBody(stored, rawBytes, true);
      body[body.length - stored.length + at] ^= 1;
      say(5, body);
    }

    private void looked(byte[] stored, int rawBytes, boolean held) throws IOException {
      say(5, lookedBody(stored, rawBytes, held));
    }

    private static byte[] lookedBody(byte[] stored, int rawBytes, boolean held) {
      int blocks = (stored.length - 1) / BLOCK + 1;
      ByteBuffer body = ByteBuffer.allocate(24 + 4 * blocks + (held ? stored.length : 0));
      body.putLong(stored.length).putLong(rawBytes).putInt(blocks);
      for (int at = 0; at < stored.length; at += BLOCK) {
        CRC32C crc = new CRC32C();
        crc.update(stored, at, Math.min(BLOCK, stored.length - at));
        body.putInt((int) crc.getValue());
      }
      body.putInt(held ? stored.length : 0).put(stored, 0, held ? stored.length : 0);
      return body.array();
    }
  }
}
