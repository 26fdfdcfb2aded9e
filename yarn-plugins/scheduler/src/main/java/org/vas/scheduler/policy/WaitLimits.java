package org.vas.scheduler.policy;

/** The milliseconds that an ask waits for its host, and then for the host's HA partner. */
public final class WaitLimits {
  private final long nodeMillis;
  private final long partnerMillis;

  public WaitLimits(long nodeMillis, long partnerMillis) {
    if (nodeMillis < 0 || partnerMillis < 0) {
      throw new IllegalArgumentException("negative wait: " + nodeMillis + ", " + partnerMillis);
    }
    this.nodeMillis = nodeMillis;
    this.partnerMillis = partnerMillis;
  }

  public long nodeMillis() {
    return nodeMillis;
  }

  public long partnerMillis() {
    return partnerMillis;
  }

  /** Returns the milliseconds after which an ask may be granted anywhere. */
  public long totalMillis() {
    return nodeMillis + partnerMillis;
  }
}
