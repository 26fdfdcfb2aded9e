package org.vas.scheduler.policy;

/**
 * Measures how long the asks of one key have waited for one host, and tells where they may go.
 *
 * <p>Two clocks run. One counts since the host last ran a container of the key: a host that runs
 * none is full of other work, one that runs some gets round to the rest. The other counts the time
 * in which some other node stood idle, and nothing that runs here sets it back: a host may be at
 * work all the time and still have more asks than its share.
 *
 * <p>{@code vas.placement.node-wait} and {@code partner-wait} say how long is enough, and
 * {@code skew-wait} how much faster the second clock runs beside a host that is behind.
 */
final class HostWait {
  private static final long NEVER = Long.MIN_VALUE;

  private final String host;
  private long since = NEVER;
  private long idled;
  private long troubleSince = NEVER;
  private WaitStage stage;
  private RemoteCause cause = RemoteCause.NONE;

  HostWait(String host) {
    this.host = host;
  }

  String host() {
    return host;
  }

  WaitStage stage() {
    return stage;
  }

  RemoteCause cause() {
    return cause;
  }

  /** Returns the longer of the two waits, in milliseconds. */
  long waited(long now) {
    return Math.max(unserved(now), idled);
  }

  /** Returns the milliseconds since the first ask, or since the host last had a container. */
  long unserved(long now) {
    return since == NEVER ? 0 : now - since;
  }

  /** Adds what the time counts in which another node was idle while this host's asks waited. */
  void idled(long millis) {
    idled += since == NEVER ? 0 : millis;
  }

  /** Starts the wait, as an ask is outstanding; a running wait goes on. */
  void begin(long now) {
    if (since == NEVER) {
      since = now;
    }
  }

  /** Ends the wait: nothing is outstanding, and the next ask starts another. */
  void end() {
    since = NEVER;
    idled = 0;
    troubleSince = NEVER;
    stage = null;
    cause = RemoteCause.NONE;
  }

  /** Notes that a container of the key was granted on the host, or runs there. */
  void served(long now) {
    since = now;
  }

  /**
   * Moves to the stage that is due; returns whether it changed.
   *
   * @param trouble why the host cannot get the key's containers; {@link RemoteCause#NONE} if it can
   * @param partnerUsable whether its HA partner can get them
   */
  boolean advance(long now, RemoteCause trouble, boolean partnerUsable, WaitLimits limits) {
    WaitStage before = stage;
    stage = next(now, trouble, partnerUsable, limits);
    return stage != before;
  }

  private WaitStage next(long now, RemoteCause trouble, boolean partnerUsable, WaitLimits limits) {
    long waited = waited(now);
    if (trouble == RemoteCause.NONE) {
      troubleSince = NEVER;
      cause = waited < limits.nodeMillis() ? RemoteCause.NONE
          : unserved(now) < limits.nodeMillis() ? RemoteCause.SKEW : RemoteCause.TIMEOUT;
      return cause == RemoteCause.NONE ? WaitStage.STRICT
          : beside(waited - limits.nodeMillis(), partnerUsable, limits);
    }
    troubleSince = troubleSince == NEVER ? now : troubleSince;
    cause = trouble;
    // A node that comes and goes must not start its partner's time over and over.
    return waited >= limits.totalMillis() ? WaitStage.ANY
        : beside(now - troubleSince, partnerUsable, limits);
  }

  private static WaitStage beside(long waitedForPartner, boolean partnerUsable, WaitLimits limits) {
    return partnerUsable && waitedForPartner < limits.partnerMillis()
        ? WaitStage.PARTNER : WaitStage.ANY;
  }
}
