package org.vas.conf;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/** Keys of the site description, and of how long the Lustre client's answers are trusted. */
public interface LayoutConf {
  ConfKey<String> CLUSTER_FILE = ConfKey.text("vas.cluster.file", "",
      "The site description. Not set: $VAS_CLUSTER, else /etc/vas/cluster.yaml.");

  ConfKey<Duration> OWNERS_TTL = ConfKey.duration("vas.layout.owners-ttl", "10s", "0s", "1h",
      "How long to trust what the Lustre client said about which server serves an OST.");

  /**
   * Returns the file of the site description: {@link #CLUSTER_FILE}, else the environment's {@code
   * VAS_CLUSTER}, else {@code /etc/vas/cluster.yaml}.
   *
   * @throws IllegalArgumentException if {@code conf} has an unknown key under {@code vas.cluster.}
   */
  static Path clusterFile(Configuration conf, Map<String, String> environment) {
    ConfKey.refuseUnknown(conf, "vas.cluster.", LayoutConf.class);
    String configured = CLUSTER_FILE.get(conf);
    return Path.of(configured.isEmpty()
        ? environment.getOrDefault("VAS_CLUSTER", "/etc/vas/cluster.yaml")
        : configured);
  }
}
