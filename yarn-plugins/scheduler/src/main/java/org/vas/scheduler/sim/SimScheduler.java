package org.vas.scheduler.sim;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.vas.scheduler.policy.GrantLocality;

/**
 * The rows of one key as YARN's CapacityScheduler treats them: a node with an ask of its own serves
 * it; else its rack's, unless that row is strict, which hides ANY too; else ANY's, unless strict.
 *
 * <p>Delay scheduling is left out: what is relaxed is granted at once, the worst case for locality.
 */
final class SimScheduler {
  static final String ANY = "*";

  private final Map<String, Integer> counts = new HashMap<>();
  private final Set<String> strict = new HashSet<>();

  void put(String name, int count) {
    if (count > 0) {
      counts.put(name, count);
    } else {
      counts.remove(name);
    }
  }

  void relax(String name, boolean relaxed) {
    if (relaxed) {
      strict.remove(name);
    } else {
      strict.add(name);
    }
  }

  Map<String, Integer> counts() {
    return Collections.unmodifiableMap(counts);
  }

  /** Returns the locality with which a free slot on the node would be granted; empty for none. */
  Optional<GrantLocality> offer(String node, String rack) {
    if (!counts.containsKey(ANY)) {
      return Optional.empty();
    }
    if (counts.containsKey(rack)) {
      return counts.containsKey(node) ? Optional.of(GrantLocality.LOCAL)
          : strict.contains(rack) ? Optional.empty() : Optional.of(GrantLocality.PARTNER);
    }
    return strict.contains(ANY) ? Optional.empty() : Optional.of(GrantLocality.REMOTE);
  }

  /**
   * Grants a free slot on a node, if a row allows it: subtracts one from the rows of the ask that
   * it serves. Returns the locality; empty for none.
   */
  Optional<GrantLocality> grant(String node, String rack) {
    Optional<GrantLocality> locality = offer(node, rack);
    locality.ifPresent(near -> {
      countDown(ANY);
      if (near != GrantLocality.REMOTE) {
        countDown(rack);
      }
      if (near == GrantLocality.LOCAL) {
        countDown(node);
      }
    });
    return locality;
  }

  private void countDown(String name) {
    put(name, counts.get(name) - 1);
  }
}
