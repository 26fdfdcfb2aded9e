package org.vas.scheduler.policy;

import java.util.function.Predicate;

/**
 * Measures how long nodes without asks of their own stood idle while a key's asks waited for
 * others.
 *
 * <p>The time from one look to the next counts if some node was idle at both, the same or another:
 * where nodes take turns, no single one need be idle for long.
 */
final class IdleTime {
  private final AskKey key;

  /** The node found idle at the last look, or null; it is looked at first. */
  private String idle;
  private long seen;
  private long work;

  IdleTime(AskKey key) {
    this.key = key;
  }

  /**
   * Returns the milliseconds since the last look, if some node was idle then and some node is now;
   * else 0.
   *
   * @param hasOwnAsks tells whether asks of the key name a node
   */
  long until(long now, ClusterView view, Predicate<String> hasOwnAsks) {
    boolean wasIdle = idle != null;
    long passed = now - seen;
    seen = now;
    if (!wasIdle || !isIdle(idle, view, hasOwnAsks)) {
      idle = view.candidates(key).stream()
          .filter(node -> isIdle(node, view, hasOwnAsks)).findFirst().orElse(null);
    }
    return wasIdle && idle != null ? passed : 0;
  }

  /** Returns how many nodes it looked at so far. */
  long work() {
    return work;
  }

  private boolean isIdle(String node, ClusterView view, Predicate<String> hasOwnAsks) {
    work++;
    return !hasOwnAsks.test(node)
        && view.trouble(key, node) == RemoteCause.NONE
        && view.hasRoom(key, node);
  }
}
