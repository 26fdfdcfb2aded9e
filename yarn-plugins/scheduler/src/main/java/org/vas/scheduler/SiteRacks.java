package org.vas.scheduler;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.vas.site.ClusterMap;
import org.vas.site.SiteGuest;
import org.vas.site.SiteHost;

/**
 * The racks of the site: two hosts that take over each other's OSTs, and their guests, are one
 * rack.
 */
final class SiteRacks {
  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|.*:.*");

  private final Map<String, String> racks = new HashMap<>();
  private final Map<String, String> partners = new HashMap<>();
  private final Map<String, String> guestsByShortName = new HashMap<>();
  private final ClusterMap site;
  private final UnaryOperator<String> addressOf;

  /** The racks by what the names of the site resolve to; looked up for the first other address. */
  private Map<String, String> racksByAddress;

  /**
   * Makes the racks of a site.
   * @param addressOf returns the IP address of a host name, or the name itself if it has none
   */
  SiteRacks(ClusterMap site, UnaryOperator<String> addressOf) {
    this.site = site;
    this.addressOf = addressOf;
    site.hosts().forEach(this::add);
  }

  private void add(SiteHost host) {
    String rack = rackName(host);
    racks.put(host.name(), rack);
    racks.put(host.address(), rack);
    List<SiteGuest> others = site.partnerOf(host).map(SiteHost::guests).orElse(List.of());
    for (int i = 0; i < host.guests().size(); i++) {
      SiteGuest guest = host.guests().get(i);
      racks.put(guest.name(), rack);
      racks.put(guest.address(), rack);
      guestsByShortName.put(shortName(guest.name()), guest.name());
      if (!others.isEmpty()) {
        partners.put(guest.name(), others.get(i % others.size()).name());
      }
    }
  }

  /** {@code /ha/oss1+oss2}, the same for both hosts of a pair; {@code /ha/oss5} for one alone. */
  private static String rackName(SiteHost host) {
    String partner = host.haPartner().orElse("");
    String pair = partner.isEmpty() ? host.name()
        : host.name().compareTo(partner) < 0 ? host.name() + "+" + partner
            : partner + "+" + host.name();
    return "/ha/" + pair;
  }

  /**
   * Returns the rack of a host or guest: by name or data-fabric address, else by what these resolve
   * to. Empty for a name that is not of the site.
   */
  Optional<String> rackOf(String nameOrAddress) {
    return Optional.ofNullable(racks.get(nameOrAddress))
        .or(() -> otherSpelling(nameOrAddress).map(racks::get))
        .or(() -> Optional.ofNullable(ADDRESS.matcher(nameOrAddress).matches()
            ? byAddress().get(nameOrAddress) : racks.get(addressOf.apply(nameOrAddress))));
  }

  private synchronized Map<String, String> byAddress() {
    if (racksByAddress == null) {
      Map<String, String> resolved = new HashMap<>();
      racks.forEach((name, rack) -> resolved.put(addressOf.apply(name), rack));
      racksByAddress = resolved;
    }
    return racksByAddress;
  }

  boolean isGuest(String name) {
    return site.hostByGuest(name).isPresent();
  }

  /** Returns the guest on the HA partner of this guest's host; empty if there is none. */
  Optional<String> partnerOf(String guestName) {
    return Optional.ofNullable(partners.get(guestName));
  }

  /**
   * Returns the guest whose name differs by the domain alone, as {@code vm1} for {@code
   * vm1.example}: YARN takes the two for different nodes. Empty if there is none.
   */
  Optional<String> otherSpelling(String name) {
    return Optional.ofNullable(guestsByShortName.get(shortName(name)))
        .filter(guest -> !guest.equals(name))
        .filter(guest -> guest.equals(shortName(guest)) != name.equals(shortName(name)));
  }

  private static String shortName(String name) {
    return name.split("\\.", 2)[0];
  }
}
