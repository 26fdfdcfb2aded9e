package org.vas.scheduler.policy;

/** The distance of a granted container from its data. */
public enum GrantLocality {
  LOCAL("local"),
  /** The container is on the rack, that is the HA pair, of the host that was asked for. */
  PARTNER("partner"),
  REMOTE("remote");

  private final String label;

  GrantLocality(String label) {
    this.label = label;
  }

  @Override
  public String toString() {
    return label;
  }
}
