package org.vas.layout;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;

/** One storage server (OSS) of the site. Two hosts are equal when their names are. */
public final class Host {
  private final String name;
  private final String address;
  private final List<String> nids;
  private final List<Integer> osts;
  private final Optional<String> haPartner;
  private final Optional<Guest> guest;

  Host(String name, String address, List<String> nids, List<Integer> osts,
      Optional<String> haPartner, Optional<Guest> guest) {
    this.name = requireNonNull(name, "name");
    this.address = requireNonNull(address, "address");
    this.nids = List.copyOf(nids);
    this.osts = List.copyOf(osts);
    this.haPartner = requireNonNull(haPartner, "haPartner");
    this.guest = requireNonNull(guest, "guest");
  }

  public String name() {
    return name;
  }

  /** Its address on the data fabric. */
  public String address() {
    return address;
  }

  /** Its LNet addresses, for example {@code 10.77.0.11@tcp}. */
  public List<String> nids() {
    return nids;
  }

  /** The indices of the OSTs it serves while nothing has failed over. */
  public List<Integer> osts() {
    return osts;
  }

  /** The name of the host that takes its OSTs over. */
  public Optional<String> haPartner() {
    return haPartner;
  }

  public Optional<Guest> guest() {
    return guest;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Host && name.equals(((Host) other).name);
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
