package org.vas.site;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.vas.conf.LayoutConf;

/**
 * Reads {@code cluster.yaml} into a {@link ClusterMap}. The last text's map is kept: a JVM that runs
 * one task after another reads the same file in each, and to parse it takes milliseconds.
 */
final class ClusterFile {
  private static volatile ClusterFile last = new ClusterFile("", null);

  private final String text;
  private final ClusterMap map;

  private ClusterFile(String text, ClusterMap map) {
    this.text = text;
    this.map = map;
  }

  /**
   * Reads and checks a site description.
   *
   * @throws ClusterMapException with file, line and path of the first value that is refused
   */
  static ClusterMap read(Path file) throws ClusterMapException {
    String text = text(file);
    ClusterFile known = last;
    if (known.map == null || !known.text.equals(text)) {
      known = new ClusterFile(text, parse(file, text));
      last = known;
    }
    return known.map;
  }

  private static ClusterMap parse(Path file, String text) throws ClusterMapException {
    SiteValue document = new SiteValue(file, "", compose(file, text));
    SiteSchema.check(document);
    SiteRules.check(document);
    List<SiteHost> hosts = new ArrayList<>();
    for (SiteValue host : document.items("hosts")) {
      hosts.add(host(host));
    }
    SiteValue lustre = document.get("lustre");
    return new ClusterMap(document.get("site").text(), lustre.get("fsname").text(),
        Path.of(lustre.get("mount").text()), hosts);
  }

  private static String text(Path file) throws ClusterMapException {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw new ClusterMapException(
          file + ": no such file; name the map in " + LayoutConf.CLUSTER_FILE.name());
    } catch (CharacterCodingException e) {
      throw new ClusterMapException(file + ": is not UTF-8 text");
    } catch (AccessDeniedException e) {
      throw new ClusterMapException(file + ": cannot be read: permission denied");
    } catch (IOException e) {
      throw new ClusterMapException(file + ": cannot be read: " + e.getMessage());
    }
  }

  private static Node compose(Path file, String text) throws ClusterMapException {
    LoadSettings settings = LoadSettings.builder()
        .setCodePointLimit(Integer.MAX_VALUE).setMaxAliasesForCollections(Integer.MAX_VALUE)
        .setAllowNonScalarKeys(true).build();
    try {
      return new Compose(settings).composeString(text)
          .orElseThrow(() -> new ClusterMapException(file + ":1: is empty"));
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(Mark::getLine).orElse(0) + 1;
      throw new ClusterMapException(file + ":" + line + ": is not valid YAML: " + e.getProblem());
    } catch (YamlEngineException e) {
      throw new ClusterMapException(file + ":1: is not valid YAML: " + e.getMessage());
    } catch (StackOverflowError e) {
      throw new ClusterMapException(file + ":1: is nested too deeply");
    }
  }

  private static SiteHost host(SiteValue host) throws ClusterMapException {
    List<String> nids = new ArrayList<>();
    for (SiteValue nid : host.items("nids")) {
      nids.add(nid.text());
    }
    List<Integer> osts = new ArrayList<>();
    for (SiteValue ost : host.items("osts")) {
      osts.add(Math.toIntExact(ost.number()));
    }
    List<SiteGuest> guests = new ArrayList<>();
    for (SiteValue guest : host.items("guests")) {
      guests.add(new SiteGuest(guest.get("name").text(), guest.get("address").text()));
    }
    Optional<SiteValue> partner = host.find("ha_partner");
    return new SiteHost(host.get("name").text(), host.get("address").text(), nids, osts,
        partner.isPresent() ? Optional.of(partner.get().text()) : Optional.empty(), guests);
  }
}
