package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.vas.conf.ConfKey;
import org.vas.conf.LayoutConf;
import org.vas.site.ClusterMap;
import org.vas.site.ClusterMapException;
import org.vas.site.SiteGuest;
import org.vas.site.SiteHost;
import org.vas.site.OstServers;

/** The site as seen from this machine: the mount, who serves an OST, and what is local. */
final class LocalSite {
  private final Path mount;
  private final String fsname;
  private final Optional<OstServers> owners;
  private final Optional<SiteHost> localHost;

  private LocalSite(Path mount, String fsname, Optional<OstServers> owners, Optional<SiteHost> localHost) {
    this.mount = requireNonNull(mount, "mount");
    this.fsname = fsname;
    this.owners = owners;
    this.localHost = localHost;
  }

  /**
   * Reads the site description. It may be missing only where nothing needs it: the mount is
   * configured, and no locations are wanted.
   *
   * @throws IOException if the description is missing or refused, if the configured guest is not in
   *     it, or if the configured mount is not an absolute path
   * @throws IllegalArgumentException that names the key, if one is unknown or its value not valid
   */
  static LocalSite load(Configuration conf, Map<String, String> environment) throws IOException {
    ConfKey.refuseUnknown(conf, "vas.lustre.", LustreConf.class);
    ConfKey.refuseUnknown(conf, "vas.layout.", LustreConf.class, LayoutConf.class);
    ConfKey.refuseUnknown(conf, "vas.local.", LustreConf.class);
    ConfKey.refuseUnknown(conf, "vas.location", LustreConf.class);
    Path file = LayoutConf.clusterFile(conf, environment);
    String mount = LustreConf.MOUNT.get(conf);
    if (!mount.isEmpty() && !Locations.of(conf).needSite() && !Files.exists(file)) {
      return new LocalSite(absolute(mount), "", Optional.empty(), Optional.empty());
    }
    ClusterMap map = read(file);
    Optional<SiteHost> local = LocalGuest.host(conf, environment, map);
    OstServers owners = new OstServers(
        map, local.map(SiteHost::name).orElse(""), LayoutConf.OWNERS_TTL.get(conf));
    return new LocalSite(mount.isEmpty() ? map.mount() : absolute(mount), map.fsname(),
        Optional.of(owners), local);
  }

  Path mount() {
    return mount;
  }

  /** Returns the map's name of the Lustre file system; empty when this node has no map. */
  String fsname() {
    return fsname;
  }

  /**
   * Returns the VM on the host that serves the OST now; empty when the host is not known or has no
   * VM.
   */
  Optional<SiteGuest> guestOf(int ostIndex) {
    return owners.flatMap(known -> known.ownerOf(ostIndex))
        .flatMap(host -> host.guestFor(ostIndex));
  }

  /** Returns whether this machine runs on the host that serves the OST now. */
  boolean isLocal(int ostIndex) {
    return localHost.isPresent()
        && owners.flatMap(known -> known.ownerOf(ostIndex)).equals(localHost);
  }

  /** Returns whether this machine is one of the site's guests or hosts. */
  boolean hasLocal() {
    return localHost.isPresent();
  }

  /** Returns the indexes of those OSTs of this machine's host that the host still serves. */
  List<Integer> localOsts() {
    return localHost.map(SiteHost::osts).orElse(List.of()).stream()
        .filter(this::isLocal).collect(Collectors.toUnmodifiableList());
  }

  private static ClusterMap read(Path file) throws IOException {
    if (!Files.exists(file)) {
      throw new IOException(file + ": no such site description; name yours in "
          + LayoutConf.CLUSTER_FILE.name());
    }
    try {
      return ClusterMap.load(file);
    } catch (ClusterMapException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static Path absolute(String mount) throws IOException {
    Path path = Path.of(mount);
    if (!path.isAbsolute()) {
      throw new IOException(
          LustreConf.MOUNT.name() + ": '" + mount + "' is not an absolute path");
    }
    return path.normalize();
  }
}
