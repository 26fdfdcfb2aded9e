package org.vas.scheduler.policy;

/** How long the asks of one key have waited for one host, and what that allows. */
final class HostWait {
  private static final long NEVER = Long.MIN_VALUE;

  private final String host;
  private long since = NEVER;
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

  long waited(long now) {
    return since == NEVER ? 0 : now - since;
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
    troubleSince = NEVER;
    stage = null;
    cause = Cause.NONE;
  }

  void granted(long now) {
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
      cause = waited < limits.nodeMillis() ? Cause.NONE : Cause.TIMEOUT;
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
