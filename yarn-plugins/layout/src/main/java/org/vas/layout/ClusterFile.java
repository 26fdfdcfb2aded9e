package org.vas.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Turns the text of {@code cluster.yaml} into a {@link ClusterMap}. */
final class ClusterFile {
  private ClusterFile() {}

  static ClusterMap read(Path file) throws ClusterMapException {
    Object document = parse(file);
    try {
      return map((Map<?, ?>) document);
    } catch (ClassCastException | NullPointerException e) {
      throw new ClusterMapException(file + ": not a site description", e);
    }
  }

  private static Object parse(Path file) throws ClusterMapException {
    try {
      LoadSettings settings = LoadSettings.builder().setAllowDuplicateKeys(false).build();
      return new Load(settings).loadFromString(Files.readString(file));
    } catch (IOException | YamlEngineException e) {
      throw new ClusterMapException(file + ": " + e.getMessage(), e);
    }
  }

  private static ClusterMap map(Map<?, ?> root) {
    Map<?, ?> lustre = (Map<?, ?>) root.get("lustre");
    List<Host> hosts = new ArrayList<>();
    for (Object host : (List<?>) root.get("hosts")) {
      hosts.add(host((Map<?, ?>) host));
    }
    return new ClusterMap((String) root.get("site"), (String) lustre.get("fsname"),
        Path.of((String) lustre.get("mount")), hosts);
  }

  private static Host host(Map<?, ?> host) {
    return new Host((String) host.get("name"), (String) host.get("address"),
        list(host.get("nids"), String.class), list(host.get("osts"), Integer.class),
        Optional.ofNullable((String) host.get("ha_partner")),
        Optional.ofNullable((Map<?, ?>) host.get("guest")).map(ClusterFile::guest));
  }

  private static Guest guest(Map<?, ?> guest) {
    return new Guest((String) guest.get("name"), (String) guest.get("address"));
  }

  private static <T> List<T> list(Object value, Class<T> type) {
    List<T> items = new ArrayList<>();
    for (Object item : (List<?>) value) {
      items.add(type.cast(item));
    }
    return items;
  }
}
