package org.vas.shuffle.daemon;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRConfig;

/**
 * The Unix socket of this node's daemon, which has one in each local directory of the NodeManager.
 * The plugins are compiled for Java 11, and Unix sockets came with Java 16: so one public method of
 * the JDK is called by its name.
 */
final class DaemonSocket {
  /** The path of the socket below each local directory. */
  static final String NAME = "vas-shuffled/socket";
  // usercache, USER, appcache and APPLICATION, which a task's local directory ends with.
  private static final int LEVELS = 4;
  // The kernel's bound for the path of a socket, less the zero byte.
  private static final int LONGEST_PATH = 107;

  private DaemonSocket() {}

  /**
   * Connects to the daemon.
   *
   * @param job a task's configuration, with its local directories
   * @throws IOException that names each socket that was tried and why it did not answer
   */
  static SocketChannel connect(Configuration job) throws IOException {
    List<String> failures = new ArrayList<>();
    for (Path socket : candidates(job)) {
      try {
        return SocketChannel.open(address(shortest(socket)));
      } catch (IOException e) {
        failures.add(socket + ": " + e.getMessage());
      }
    }
    throw new IOException("this node's vas-shuffled does not answer; does its NodeManager run"
        + " org.vas.shuffle.node.DaemonShuffleHandler? " + String.join("; ", failures));
  }

  private static List<Path> candidates(Configuration job) {
    List<Path> found = new ArrayList<>();
    for (String directory : job.getTrimmedStrings(MRConfig.LOCAL_DIR)) {
      Path path = Path.of(directory).toAbsolutePath();
      if (path.getNameCount() > LEVELS) {
        Path root = path;
        for (int level = 0; level < LEVELS; level++) {
          root = root.getParent();
        }
        found.add(root.resolve(NAME));
      }
    }
    return found;
  }

  /** A task's working directory lies beside the socket, so that a path from there is short. */
  private static Path shortest(Path socket) throws IOException {
    if (socket.toString().length() <= LONGEST_PATH) {
      return socket;
    }
    Path relative = Path.of("").toRealPath().relativize(socket.toRealPath());
    return relative.toString().length() < socket.toString().length() ? relative : socket;
  }

  private static SocketAddress address(Path path) throws IOException {
    try {
      return (SocketAddress) Class.forName("java.net.UnixDomainSocketAddress")
          .getMethod("of", Path.class).invoke(null, path);
    } catch (ClassNotFoundException | NoSuchMethodException e) {
      throw new IOException("this JVM has no Unix sockets: run tasks with Java 16 or newer", e);
    } catch (ReflectiveOperationException e) {
      throw new IOException(path + ": not the path of a Unix socket: " + e.getCause(), e);
    }
  }
}
