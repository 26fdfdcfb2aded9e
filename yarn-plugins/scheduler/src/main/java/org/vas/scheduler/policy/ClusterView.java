package org.vas.scheduler.policy;

import java.util.Collection;
import java.util.Optional;

/** The state of the cluster that the policy decides by. */
public interface ClusterView {
  /** Returns whether the site description names this host, so that waiting for it makes sense. */
  boolean knows(String host);

  /** Returns {@link RemoteCause#NONE} if the host can get the key's containers, else why not. */
  RemoteCause trouble(AskKey key, String host);

  /** Returns the rack to which the scheduler assigns the host. */
  String rackOf(String host);

  /** Returns the guest on the HA partner of the guest's host; empty if there is none. */
  Optional<String> partnerOf(String host);

  /** Returns every node that may run something; trouble is asked for separately. */
  Collection<String> nodes();

  /** Returns at least the nodes that had room for the key's asks a second ago. */
  default Collection<String> candidates(AskKey key) {
    return nodes();
  }

  /** Returns whether the node could be granted one more container for the key's asks at once. */
  boolean hasRoom(AskKey key, String node);

  /** Returns how many containers of the key are on the node: granted, and not ended yet. */
  int running(AskKey key, String node);
}
