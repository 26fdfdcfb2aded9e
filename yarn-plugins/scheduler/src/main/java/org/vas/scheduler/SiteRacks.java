package org.vas.scheduler;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.vas.layout.ClusterMap;
import org.vas.layout.Guest;
import org.vas.layout.Host;

/** The site as racks: two hosts that take over each other's OSTs, and their guests, are one. */
final class SiteRacks {
  private final Map<String, String> racks = new HashMap<>();
  private final Map<String, String> partners = new HashMap<>();
  private final ClusterMap site;

  SiteRacks(ClusterMap site) {
    this.site = site;
    site.hosts().forEach(this::add);
  }

  private void add(Host host) {
    String rack = rackName(host);
    racks.put(host.name(), rack);
    racks.put(host.address(), rack);
    host.guest().ifPresent(guest -> {
      racks.put(guest.name(), rack);
      racks.put(guest.address(), rack);
      site.partnerOf(host).flatMap(Host::guest).map(Guest::name)
          .ifPresent(partner -> partners.put(guest.name(), partner));
    });
  }

  /** {@code /ha/oss1+oss2}, the same for both hosts of a pair; {@code /ha/oss5} for one alone. */
  private static String rackName(Host host) {
    String partner = host.haPartner().orElse("");
    String pair = partner.isEmpty() ? host.name()
        : host.name().compareTo(partner) < 0 ? host.name() + "+" + partner
            : partner + "+" + host.name();
    return "/ha/" + pair;
  }

  /** The rack of a host or guest, by name or by data-fabric address. */
  Optional<String> rackOf(String nameOrAddress) {
    return Optional.ofNullable(racks.get(nameOrAddress));
  }

  boolean isGuest(String name) {
    return site.hostByGuest(name).isPresent();
  }

  /** The guest on the HA partner of this guest's host. */
  Optional<String> partnerOf(String guestName) {
    return Optional.ofNullable(partners.get(guestName));
  }
}
