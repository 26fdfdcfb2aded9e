package org.vas.layout;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What one key of a site description demands of another: uniqueness, pairs, references. */
final class ClusterRules {
  private static final List<String> FLOCK_OPTIONS = List.of("flock", "localflock", "noflock");

  private final Cursor lustre;
  private final List<Cursor> hosts;
  private final List<Cursor> guests;
  private final Cursor manager;
  private final Cursor queues;
  private final Map<Object, Cursor> hostsByName;
  private final Map<Object, Cursor> guestsByName;
  private final List<Problem> problems;

  private ClusterRules(Cursor root, List<Problem> problems) {
    lustre = root.get("lustre");
    hosts = root.get("hosts").items();
    guests = hosts.stream().flatMap(host -> host.get("guests").items().stream())
        .collect(Collectors.toUnmodifiableList());
    manager = root.get("yarn").get("resourcemanager");
    queues = root.get("yarn").get("queues");
    hostsByName = byName(hosts);
    guestsByName = byName(guests);
    this.problems = problems;
  }

  /** Appends every rule that a structurally sound document breaks. */
  static void check(Cursor document, List<Problem> problems) {
    ClusterRules rules = new ClusterRules(document, problems);
    rules.checkDuplicates();
    rules.hosts.forEach(rules::checkDisksOfOsts);
    rules.hosts.forEach(rules::checkPartner);
    rules.checkManager();
    rules.checkShares();
    rules.checkMountOptions();
  }

  private void checkDuplicates() {
    unique(ofNodes("name"), "give every host and guest a name of its own");
    unique(Stream.concat(ofNodes("address"), managersOwnAddress()),
        "give every host and guest an address of its own");
    unique(guests.stream().map(guest -> guest.get("macs"))
        .flatMap(macs -> Stream.of(macs.get("vf"), macs.get("virtio"))),
        "give every NIC a MAC of its own");
    unique(ofHosts("nids"), "a NID belongs to one host");
    unique(ofHosts("osts"), "an OST is listed at the host that serves it normally");
    unique(queues.items().stream().map(queue -> queue.get("name")),
        "give every queue a name of its own");
    for (Cursor guest : guests) {
      unique(guest.get("disks").items().stream().map(disk -> disk.get("path")),
          "give every disk a path of its own");
    }
    for (Cursor host : hosts) {
      unique(Stream.of("pf", "vf", "bridge").map(host.get("nics")::get),
          "give every interface a name of its own");
    }
  }

  private void unique(Stream<Cursor> values, String fix) {
    Map<Object, KeyPath> first = new HashMap<>();
    values.forEach(at -> {
      KeyPath before = first.putIfAbsent(oneSpelling(at.value()), at.path());
      if (before != null) {
        add(at, at.value() + " is also " + before, fix);
      }
    });
  }

  // An IP address, also that of a NID, as one value however it is written; else the value.
  private static Object oneSpelling(Object value) {
    return value instanceof String ? IpText.oneSpelling((String) value) : value;
  }

  private Stream<Cursor> ofNodes(String key) {
    return hosts.stream()
        .flatMap(host -> Stream.concat(Stream.of(host), host.get("guests").items().stream()))
        .map(node -> node.get(key));
  }

  private Stream<Cursor> ofHosts(String key) {
    return hosts.stream().flatMap(host -> host.get(key).items().stream());
  }

  private Stream<Cursor> managersOwnAddress() {
    return Stream.of(manager.get("address"))
        .filter(address -> address.exists() && knownAddress() == null);
  }

  private void checkDisksOfOsts(Cursor host) {
    Map<Object, KeyPath> devices = new HashMap<>();
    host.get("storage_devices").items().forEach(at -> devices.putIfAbsent(at.value(), at.path()));
    host.get("guests").items().stream().flatMap(guest -> guest.get("disks").items().stream())
        .map(disk -> disk.get("path")).filter(at -> devices.containsKey(at.value()))
        .forEach(at -> add(at, at.value() + " is also " + devices.get(at.value()),
            "name a disk that no OST is on: a guest writes to its disks"));
  }

  private void checkPartner(Cursor host) {
    Cursor at = host.get("ha_partner");
    if (!at.exists()) {
      return;
    }
    Cursor partner = hostsByName.get(at.value());
    String name = host.get("name").text();
    if (partner == null) {
      add(at, "no host is named " + at.value(), "name one of the hosts");
    } else if (at.value().equals(name)) {
      add(at, name + " is its own partner", "name the other host of the pair");
    } else if (contradicts(partner, name)) {
      Cursor theirs = partner.get("ha_partner");
      add(at, at.value() + " is named, but the partner of " + at.value() + " is "
              + (theirs.exists() ? theirs.value() : "none"),
          "set ha_partner: " + name + " at " + at.value());
    }
  }

  // A partner whose own reference is broken is reported once, at that reference.
  private boolean contradicts(Cursor partner, String host) {
    Cursor theirs = partner.get("ha_partner");
    return !theirs.exists()
        || (hostsByName.containsKey(theirs.value())
            && !theirs.value().equals(partner.get("name").value())
            && !theirs.value().equals(host));
  }

  private void checkManager() {
    Object known = knownAddress();
    Cursor name = manager.get("name");
    Cursor address = manager.get("address");
    if (known == null && !address.exists()) {
      add(name, "no host or guest is named " + name.value(), "add its address");
    }
    if (known != null && address.exists()
        && !oneSpelling(address.value()).equals(oneSpelling(known))) {
      add(address, address.value() + " is not the address of " + name.value() + ", which is "
          + known, "leave the address out");
    }
  }

  private Object knownAddress() {
    Object name = manager.get("name").value();
    Cursor node = hostsByName.getOrDefault(name, guestsByName.get(name));
    return node == null ? null : node.get("address").value();
  }

  private void checkShares() {
    int total = queues.items().stream().mapToInt(queue -> queue.get("capacity").number()).sum();
    if (queues.exists() && total != 100) {
      add(queues, "the capacities add up to " + total, "make them add up to 100");
    }
  }

  private void checkMountOptions() {
    for (Cursor option : lustre.get("mount_options").items()) {
      if (FLOCK_OPTIONS.contains(option.value())) {
        add(option, option.value() + " is set by lustre.flock", "remove it here");
      }
    }
  }

  private void add(Cursor at, String what, String fix) {
    problems.add(new Problem(at.path(), what, fix));
  }

  private static Map<Object, Cursor> byName(List<Cursor> nodes) {
    Function<Cursor, Object> name = node -> node.get("name").value();
    return nodes.stream()
        .collect(Collectors.toMap(name, node -> node, (first, last) -> last, HashMap::new));
  }
}
