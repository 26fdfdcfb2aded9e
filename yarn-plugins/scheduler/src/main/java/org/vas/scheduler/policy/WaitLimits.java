package org.vas.scheduler.policy;

/**
 * The milliseconds that an ask waits for its host, and then for the host's HA partner; and for how
 * long nodes may stand idle beside a host that is behind.
 */
public final class WaitLimits {
  private final long nodeMillis;
  private final long partnerMillis;
  private final long skewMillis;

  public WaitLimits(long nodeMillis, long partnerMillis, long skewMillis) {
    if (nodeMillis < 0 || partnerMillis < 0 || skewMillis < 0) {
      throw new IllegalArgumentException(
          "negative wait: " + nodeMillis + ", " + partnerMillis + ", " + skewMillis);
    }
    this.nodeMillis = nodeMillis;
    this.partnerMillis = partnerMillis;
    this.skewMillis = skewMillis;
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

  /**
   * Returns what idle milliseconds beside a host count for that is behind: so much more than their
   * own number as the wait for a node is longer than that beside such a host; never less.
   */
  long besideHostBehind(long idleMillis) {
    return skewMillis >= nodeMillis ? idleMillis
        : idleMillis * nodeMillis / Math.max(1, skewMillis);
  }
}
