package org.vas.shuffle.node;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.yarn.conf.HAUtil;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.vas.conf.ConfKey;
import org.vas.shuffle.DaemonConf;

/** Makes the command line of {@code vas-shuffled} from a NodeManager's configuration. */
final class DaemonCommand {
  private DaemonCommand() {}

  static List<String> of(Configuration conf) {
    List<String> words = new ArrayList<>(List.of(DaemonConf.PROGRAM.get(conf),
        "--listen", "[::]:" + DaemonConf.PORT.get(conf),
        "--memory", Long.toString(DaemonConf.MEMORY.get(conf) >> 20)));
    int metrics = DaemonConf.METRICS_PORT.get(conf);
    if (metrics > 0) {
      words.addAll(List.of("--metrics", "127.0.0.1:" + metrics));
    }
    words.addAll(tls(conf));
    String rdma = DaemonConf.RDMA.get(conf);
    if (!rdma.equals("off")) {
      words.addAll(List.of("--rdma", rdma));
    }
    for (String witness : witnesses(conf)) {
      words.addAll(List.of("--witness", witness));
    }
    for (String directory : conf.getTrimmedStrings(YarnConfiguration.NM_LOCAL_DIRS)) {
      words.add(Path.of(directory.replaceFirst("^file:/+", "/")).toAbsolutePath().toString());
    }
    return words;
  }

  private static List<String> tls(Configuration conf) {
    if (DaemonConf.TLS_CERTIFICATE.get(conf).isEmpty()) {
      return List.of();
    }
    return List.of("--tls-certificate", DaemonConf.TLS_CERTIFICATE.get(conf),
        "--tls-key", DaemonConf.TLS_KEY.get(conf),
        "--tls-authorities", DaemonConf.TLS_AUTHORITIES.get(conf));
  }

  /**
   * Throws if TLS is demanded or half configured, so that the daemon would not have it.
   *
   * @param conf a NodeManager's, with what mapred-site.xml says
   * @throws IOException that names the key which is not set
   */
  static void checkTls(Configuration conf) throws IOException {
    List<ConfKey<String>> keys =
        List.of(DaemonConf.TLS_CERTIFICATE, DaemonConf.TLS_KEY, DaemonConf.TLS_AUTHORITIES);
    boolean demanded = conf.getBoolean(
        MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT);
    boolean begun = keys.stream().anyMatch(key -> !key.get(conf).isEmpty());
    for (ConfKey<String> key : keys) {
      if ((demanded || begun) && key.get(conf).isEmpty()) {
        String why = demanded ? MRConfig.SHUFFLE_SSL_ENABLED_KEY + " is true" : "TLS needs three keys";
        throw new IOException(why + ", and " + key.name() + " is not set");
      }
    }
  }

  /**
   * Returns the addresses (HOST:PORT) of the ResourceManagers to which this NodeManager reports: a
   * node that reaches none of them is cut off itself.
   */
  static List<String> witnesses(Configuration conf) {
    List<String> found = new ArrayList<>();
    if (!HAUtil.isHAEnabled(conf)) {
      add(found, new YarnConfiguration(conf));
      return found;
    }
    Collection<String> masters = HAUtil.getRMHAIds(conf);
    for (String master : masters) {
      YarnConfiguration of = new YarnConfiguration(conf);
      of.set(YarnConfiguration.RM_HA_ID, master);
      add(found, of);
    }
    return found;
  }

  private static void add(List<String> found, YarnConfiguration conf) {
    InetSocketAddress address = conf.getSocketAddr(
        YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS,
        YarnConfiguration.DEFAULT_RM_RESOURCE_TRACKER_ADDRESS,
        YarnConfiguration.DEFAULT_RM_RESOURCE_TRACKER_PORT);
    String host = address.getHostString();
    boolean isAny = !address.isUnresolved() && address.getAddress().isAnyLocalAddress();
    if (!isAny) {
      found.add((host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort());
    }
  }
}
