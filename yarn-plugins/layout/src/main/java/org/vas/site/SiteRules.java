package org.vas.site;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks the rules between keys without which tasks would be placed wrongly: a name, an address, a
 * NID and an OST lead to one node, and HA partners name each other. {@code vas cluster check}
 * checks all other rules.
 */
final class SiteRules {
  private final Map<String, SiteValue> names = new HashMap<>();
  private final Map<String, SiteValue> addresses = new HashMap<>();
  private final Map<String, SiteValue> nids = new HashMap<>();
  private final Map<String, SiteValue> osts = new HashMap<>();
  private final Map<String, SiteValue> partners = new HashMap<>();

  private SiteRules() {}

  /**
   * Checks the hosts of a document that matches the schema.
   *
   * @throws ClusterMapException with file, line and path of the first value that is refused
   */
  static void check(SiteValue document) throws ClusterMapException {
    SiteRules rules = new SiteRules();
    List<SiteValue> hosts = document.items("hosts");
    List<SiteValue> nodes = new ArrayList<>(hosts);
    for (SiteValue host : hosts) {
      nodes.addAll(host.items("guests"));
      rules.addStorage(host);
    }
    for (SiteValue node : nodes) {
      rules.addNode(node);
    }
    for (SiteValue host : hosts) {
      rules.checkPartner(host);
    }
  }

  private void addNode(SiteValue node) throws ClusterMapException {
    SiteValue name = node.get("name");
    once(names, name.text(), name);
    SiteValue address = node.get("address");
    once(addresses, IpText.oneSpelling(address.text()), address);
  }

  private void addStorage(SiteValue host) throws ClusterMapException {
    for (SiteValue nid : host.items("nids")) {
      once(nids, IpText.oneSpelling(nid.text()), nid);
    }
    for (SiteValue ost : host.items("osts")) {
      once(osts, Long.toString(ost.number()), ost);
    }
    Optional<SiteValue> partner = host.find("ha_partner");
    if (partner.isPresent()) {
      partners.put(host.get("name").text(), partner.get());
    }
  }

  private static void once(Map<String, SiteValue> known, String value, SiteValue at)
      throws ClusterMapException {
    SiteValue before = known.putIfAbsent(value, at);
    if (before != null) {
      throw at.refused(value + " is also " + before.path() + "; each must have its own");
    }
  }

  private void checkPartner(SiteValue host) throws ClusterMapException {
    String name = host.get("name").text();
    SiteValue at = partners.get(name);
    if (at == null) {
      return;
    }
    SiteValue theirs = partners.get(at.text());
    if (theirs == null || at.text().equals(name) || !theirs.text().equals(name)) {
      throw at.refused("'" + at.text() + "' is not a host with ha_partner: " + name);
    }
  }
}
