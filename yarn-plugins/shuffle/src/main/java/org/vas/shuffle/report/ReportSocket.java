package org.vas.shuffle.report;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The Unix socket to which tasks report, one below each local directory of the NodeManager. The
 * plugins are compiled for Java 11, and Unix sockets came with Java 16: so public methods of the JDK
 * are called by their names.
 */
public final class ReportSocket {
  private static final String NAME = "vas-shuffle/tasks";
  // usercache, USER, appcache and APPLICATION, which a task's local directory ends with.
  private static final int LEVELS = 4;

  private ReportSocket() {}

  /** Returns the path of the socket below a local directory of the NodeManager. */
  public static Path below(Path localDirectory) {
    return localDirectory.resolve(NAME);
  }

  /** Returns the path of the socket for a task with this local directory; null for a shorter one. */
  static Path ofTask(Path taskDirectory) {
    Path root = taskDirectory.toAbsolutePath();
    for (int level = 0; level < LEVELS && root != null; level++) {
      root = root.getParent();
    }
    return root == null ? null : below(root);
  }

  /**
   * Listens at a path, in place of the socket that an earlier life of the NodeManager left.
   *
   * @throws IOException also where the JVM has no Unix sockets, or the path is too long for one
   */
  public static ServerSocketChannel listen(Path socket) throws IOException {
    SocketAddress address = address(socket);
    Path directory = Files.createDirectories(socket.getParent());
    // The NodeManager's umask is not meant for the tasks' way to the socket.
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.deleteIfExists(socket);
    ServerSocketChannel server = open(ServerSocketChannel.class);
    try {
      server.bind(address);
      Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw-rw-"));
      return server;
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /**
   * Connects to a socket.
   *
   * @throws IOException where nobody listens
   */
  public static SocketChannel connect(Path socket) throws IOException {
    return SocketChannel.open(address(socket));
  }

  /**
   * Connects to a socket without waiting; the channel that is returned is in non-blocking mode.
   *
   * @throws IOException where nobody listens, or the queue of connections that wait there is full
   */
  static SocketChannel connectAtOnce(Path socket) throws IOException {
    SocketAddress address = address(socket);
    SocketChannel channel = open(SocketChannel.class);
    try {
      channel.configureBlocking(false);
      if (!channel.connect(address)) {
        throw new IOException(socket + ": the NodeManager accepts no connection at the moment");
      }
      return channel;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private static <T> T open(Class<T> channel) throws IOException {
    try {
      return channel.cast(channel.getMethod("open", ProtocolFamily.class)
          .invoke(null, StandardProtocolFamily.valueOf("UNIX")));
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      throw new IOException("this JVM has no Unix sockets: take Java 16 or newer", e);
    }
  }

  private static SocketAddress address(Path socket) throws IOException {
    try {
      return (SocketAddress) Class.forName("java.net.UnixDomainSocketAddress")
          .getMethod("of", Path.class).invoke(null, socket);
    } catch (ReflectiveOperationException e) {
      throw new IOException(socket + ": this JVM has no Unix sockets: take Java 16 or newer", e);
    }
  }
}
