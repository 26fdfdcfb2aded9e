package org.vas.site;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;

/** One storage server (OSS) of the site. Two hosts are equal when their names are. */
public final class SiteHost {
  private final String name;
  private final String address;
  private final List<String> nids;
  private final List<Integer> osts;
  private final Optional<String> haPartner;
  private final List<SiteGuest> guests;

  SiteHost(String name, String address, List<String> nids, List<Integer> osts,
      Optional<String> haPartner, List<SiteGuest> guests) {
    this.name = requireNonNull(name, "name");
    this.address = requireNonNull(address, "address");
    this.nids = List.copyOf(nids);
    this.osts = List.copyOf(osts);
    this.haPartner = requireNonNull(haPartner, "haPartner");
    this.guests = List.copyOf(guests);
  }

  public String name() {
    return name;
  }

  /** Returns the IP address on the data fabric. */
  public String address() {
    return address;
  }

  /** Returns the LNet addresses, for example {@code 10.77.0.11@tcp}. */
  public List<String> nids() {
    return nids;
  }

  /** Returns the indices of the OSTs that this host serves while nothing has failed over. */
  public List<Integer> osts() {
    return osts;
  }

  /** Returns the name of the host that takes over this one's OSTs; empty when none does. */
  public Optional<String> haPartner() {
    return haPartner;
  }

  /** Returns the virtual machines on this host, in the order of the file. */
  public List<SiteGuest> guests() {
    return guests;
  }

  /** Returns the guest in which maps of an OST's stripes run; empty on a host without one. */
  public Optional<SiteGuest> guestFor(int ostIndex) {
    return guests.isEmpty() ? Optional.empty()
        : Optional.of(guests.get(ostIndex % guests.size()));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SiteHost && name.equals(((SiteHost) other).name);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return name;
  }
}
