package org.vas.scheduler.policy;

import java.util.Collection;
import java.util.Optional;

/** What the policy needs to know about the cluster at the moment it decides. */
public interface ClusterView {
  /** Whether the site description names this host, so that waiting for it makes sense. */
  boolean knows(String host);

  /** {@link Cause#NONE} if the key's containers can be granted on the host, else what is wrong. */
  Cause trouble(AskKey key, String host);

  /** The rack the scheduler counts the host to. */
  String rackOf(String host);

  /** The node beside it: the guest of the HA partner. */
  Optional<String> partnerOf(String host);

  /** Every node that may run something; trouble is asked for separately. */
  Collection<String> nodes();

  /** Nodes among which all are that have room for the key's asks, or had it a second ago. */
  default Collection<String> candidates(AskKey key) {
    return nodes();
  }

  /** Whether the node could be granted one more container for the key's asks at once. */
  boolean hasRoom(AskKey key, String node);

  /** Whether a container of the key is on the node: granted, and not ended yet. */
  boolean runs(AskKey key, String node);
}
