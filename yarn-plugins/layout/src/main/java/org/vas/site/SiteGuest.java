package org.vas.site;

import static java.util.Objects.requireNonNull;

/** The virtual machine of a host, in which a NodeManager runs. */
public final class SiteGuest {
  private final String name;
  private final String address;

  SiteGuest(String name, String address) {
    this.name = requireNonNull(name, "name");
    this.address = requireNonNull(address, "address");
  }

  /** Returns the name under which YARN knows the node. */
  public String name() {
    return name;
  }

  /** Returns the address of the guest's VF on the data fabric. */
  public String address() {
    return address;
  }

  @Override
  public String toString() {
    return name + " (" + address + ")";
  }
}
