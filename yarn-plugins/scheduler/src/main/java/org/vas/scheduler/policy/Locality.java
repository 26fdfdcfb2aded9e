package org.vas.scheduler.policy;

/** How near to its data a container was granted. */
public enum Locality {
  LOCAL("local"),
  /** On the rack, that is the HA pair, of the host that was asked for. */
  PARTNER("partner"),
  REMOTE("remote");

  private final String label;

  Locality(String label) {
    this.label = label;
  }

  @Override
  public String toString() {
    return label;
  }
}
