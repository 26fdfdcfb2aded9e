package org.vas.scheduler.policy;

/** The reason why a task may run elsewhere than on the host that owns its split. */
public enum RemoteCause {
  NONE("none"),
  /** The host is alive but ran none of the key's containers for as long as we wait. */
  TIMEOUT("timeout"),
  /** The host works through its asks, but other nodes stood idle for as long as we wait. */
  SKEW("skew"),
  /** The host's NodeManager is lost or unhealthy. */
  DEAD_NODE("dead-node"),
  /** The ResourceManager never saw a node of this name: it may know it by another. */
  NO_SUCH_NODE("no-such-node"),
  /** The host is in another partition (node label) than the ask. */
  PARTITION_MISMATCH("partition-mismatch"),
  DECOMMISSIONING("decommissioning"),
  BLACKLISTED("blacklisted"),
  /** The ask names no rack row for the host's rack, so YARN cannot grant it node-locally. */
  RACK_MISMATCH("rack-mismatch"),
  /** The ask names no host of the site at all. */
  UNPLACED("unplaced");

  private final String label;

  RemoteCause(String label) {
    this.label = label;
  }

  @Override
  public String toString() {
    return label;
  }
}
