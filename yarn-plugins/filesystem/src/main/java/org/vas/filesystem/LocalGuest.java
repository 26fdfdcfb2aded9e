package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.vas.site.ClusterMap;
import org.vas.site.SiteHost;

/** Finds out on which host of the site description this process runs. */
final class LocalGuest {
  private static final Path HOSTNAME = Path.of("/proc/sys/kernel/hostname");

  private LocalGuest() {}

  /**
   * Returns the host that this machine is, or whose guest it is; empty on any other machine.
   * @throws IOException when the guest that is configured is not in the site description
   */
  static Optional<SiteHost> host(Configuration conf, Map<String, String> environment, ClusterMap map)
      throws IOException {
    String configured = LustreConf.LOCAL_GUEST.get(conf);
    if (!configured.isEmpty()) {
      return Optional.of(find(map, configured).orElseThrow(() -> new IOException(
          LustreConf.LOCAL_GUEST.name() + ": no guest or host '" + configured
              + "' in the site description; leave it empty to use this machine's name")));
    }
    return candidates(environment).stream()
        .flatMap(name -> find(map, name).stream()).findFirst();
  }

  private static Optional<SiteHost> find(ClusterMap map, String name) {
    return map.hostByGuest(name).or(() -> map.host(name));
  }

  private static List<String> candidates(Map<String, String> environment) {
    String nodeManager = environment.getOrDefault("NM_HOST", "");
    String hostname = hostname();
    return Arrays.asList(nodeManager, label(nodeManager), hostname, label(hostname));
  }

  private static String label(String name) {
    int dot = name.indexOf('.');
    return dot < 0 ? name : name.substring(0, dot);
  }

  // The kernel's word costs no DNS query, and is right in a namespace with a name of its own.
  private static String hostname() {
    try {
      return Files.readString(HOSTNAME).trim();
    } catch (IOException e) {
      return "";
    }
  }
}
