package org.vas.site;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the NIDs that the Lustre client uses from {@code /sys/fs/lustre/osc}. */
final class OscImports {
  private static final String LOOPBACK = "0@lo";

  private OscImports() {}

  /**
   * Returns the host that serves each OST, by OST index, as this machine's Lustre client knows it.
   * An OST is left out if the map does not have its NID or the client's mounts disagree.
   *
   * @param root the directory that stands for {@code /}
   * @param localHost this machine's name in the map: what the NID {@code 0@lo} means
   */
  static Map<Integer, SiteHost> read(ClusterMap map, Path root, String localHost) {
    Map<Integer, SiteHost> owners = new HashMap<>();
    directories(map.fsname(), root).forEach((ostIndex, directories) -> {
      Set<SiteHost> hosts = new HashSet<>();
      directories.forEach(directory -> host(map, directory, localHost).ifPresent(hosts::add));
      // Several mounts of one file system are several instances. Where they disagree an idle one
      // is stale, and nothing an ordinary user can read says which.
      if (hosts.size() == 1) {
        owners.put(ostIndex, hosts.iterator().next());
      }
    });
    return Map.copyOf(owners);
  }

  private static Optional<SiteHost> host(ClusterMap map, Path directory, String localHost) {
    String nid = nid(directory);
    return nid.equals(LOOPBACK) ? map.host(localHost) : map.hostByNid(nid);
  }

  // A mount that goes away takes its files with it: such an OST is simply not known here.
  private static String nid(Path directory) {
    try {
      return Files.readString(directory.resolve("ost_conn_uuid")).trim();
    } catch (IOException e) {
      return "";
    }
  }

  // On an MDS, "...-osc-MDT0000" are the MDT's own imports, not a client's.
  private static Map<Integer, List<Path>> directories(String fsname, Path root) {
    Pattern name = Pattern.compile(Pattern.quote(fsname) + "-OST([0-9a-f]{4})-osc-(?!MDT).+");
    Map<Integer, List<Path>> found = new HashMap<>();
    for (Path directory : children(root.resolve("sys/fs/lustre/osc"))) {
      Matcher matcher = name.matcher(String.valueOf(directory.getFileName()));
      if (matcher.matches()) {
        int ostIndex = Integer.parseInt(matcher.group(1), 16);
        found.computeIfAbsent(ostIndex, index -> new ArrayList<>()).add(directory);
      }
    }
    return found;
  }

  // No directory means no Lustre client on this machine, as on a ResourceManager.
  private static List<Path> children(Path parent) {
    List<Path> children = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(parent)) {
      stream.forEach(children::add);
    } catch (IOException e) {
      return List.of();
    }
    return children;
  }
}
