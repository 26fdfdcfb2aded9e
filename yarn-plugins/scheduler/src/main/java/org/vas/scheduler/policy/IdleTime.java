package org.vas.scheduler.policy;

import java.util.function.Predicate;

/**
 * How long nodes without asks of their own stood idle while a key's asks waited for others.
 *
 * <p>One node is watched at a time. Only time during which that same node had room from one look to
 * the next counts: on a busy cluster some node has a slot between two containers at every look.
 */
final class IdleTime {
  private final AskKey key;
  private String watched;
  private long seen;
  private long work;

  IdleTime(AskKey key) {
    this.key = key;
  }

  /** The idle time since the last look. Milliseconds. */
  long until(long now, ClusterView view, Predicate<String> hasOwnAsks) {
    if (watched != null && isIdle(watched, view, hasOwnAsks)) {
      long idled = now - seen;
      seen = now;
      return idled;
    }
    seen = now;
    watched = view.nodes().stream()
        .filter(node -> isIdle(node, view, hasOwnAsks)).findFirst().orElse(null);
    return 0;
  }

  /** How many nodes it looked at so far. */
  long work() {
    return work;
  }

  private boolean isIdle(String node, ClusterView view, Predicate<String> hasOwnAsks) {
    work++;
    return !hasOwnAsks.test(node)
        && view.trouble(key, node) == Cause.NONE
        && view.hasRoom(key, node);
  }
}
