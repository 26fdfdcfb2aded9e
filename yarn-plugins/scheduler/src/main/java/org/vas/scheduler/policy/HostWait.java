package org.vas.scheduler.policy;

/**
 * How long the asks of one key have waited for one host, and what that allows.
 *
 * <p>Two clocks run. One counts since the host last ran a container of the key: a host that runs none
 * is full of other work, one that runs some gets round to the rest. The other counts the time in
 * which some other node stood idle, and nothing that runs here sets it back: a host may be at work
 * all the time and still have more asks than its share.
 */
final class HostWait {
  private static final long NEVER = Long.MIN_VALUE;

  private final String host;
  private long since = NEVER;
  private long idled;
  private long troubleSince = NEVER;
  private Stage stage;
  private Cause cause = Cause.NONE;

  HostWait(String host) {
    this.host = host;
  }

  String host() {
    return host;
  }

  Stage stage() {
    return stage;
  }

  Cause cause() {
    return cause;
  }

  /** The longer of the two clocks. */
  long waited(long now) {
    return Math.max(unserved(now), idled);
  }

  /** Since the first ask, or since the host was last seen with a container of the key. */
  long unserved(long now) {
    return since == NEVER ? 0 : now - since;
  }

  /** For so long another node stood idle while something was outstanding here. */
  void idled(long millis) {
    idled += since == NEVER ? 0 : millis;
  }

  /** Starts the wait when something became outstanding; a running wait goes on. */
  void begin(long now) {
    if (since == NEVER) {
      since = now;
    }
  }

  /** Nothing is outstanding: the next ask starts anew. */
  void end() {
    since = NEVER;
    idled = 0;
    troubleSince = NEVER;
    stage = null;
    cause = Cause.NONE;
  }

  /** A container of the key was granted on the host, or runs there. */
  void served(long now) {
    since = now;
  }

  /** True when the stage is another than before. */
  boolean advance(long now, Cause trouble, boolean partnerUsable, WaitLimits limits) {
    Stage before = stage;
    stage = next(now, trouble, partnerUsable, limits);
    return stage != before;
  }

  private Stage next(long now, Cause trouble, boolean partnerUsable, WaitLimits limits) {
    long waited = waited(now);
    if (trouble == Cause.NONE) {
      troubleSince = NEVER;
      cause = waited < limits.nodeMillis() ? Cause.NONE
          : unserved(now) < limits.nodeMillis() ? Cause.SKEW : Cause.TIMEOUT;
      return cause == Cause.NONE ? Stage.STRICT
          : beside(waited - limits.nodeMillis(), partnerUsable, limits);
    }
    troubleSince = troubleSince == NEVER ? now : troubleSince;
    cause = trouble;
    // A node that comes and goes must not start its partner's time over and over.
    return waited >= limits.totalMillis() ? Stage.ANY
        : beside(now - troubleSince, partnerUsable, limits);
  }

  private static Stage beside(long waitedForPartner, boolean partnerUsable, WaitLimits limits) {
    return partnerUsable && waitedForPartner < limits.partnerMillis() ? Stage.PARTNER : Stage.ANY;
  }
}
