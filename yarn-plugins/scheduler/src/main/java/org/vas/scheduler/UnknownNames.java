package org.vas.scheduler;

import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.net.NetworkTopology;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of names that the site description does not have: of each once, and of the first thousand.
 */
final class UnknownNames {
  private static final Logger LOG = LoggerFactory.getLogger(VasSwitchMapping.class);
  private static final int REMEMBERED = 1_000;

  private final Set<String> warned = new HashSet<>();

  void inNoRack(String name) {
    if (isNew(name)) {
      LOG.warn("{}: not in the site description, so its rack is {}; add the host or guest with this"
          + " name or address, if it belongs to the site", name, NetworkTopology.DEFAULT_RACK);
    }
  }

  void spelledOtherwise(String name, String guest) {
    if (isNew(name)) {
      LOG.warn("{}: the site description calls this guest {}, and YARN takes them for different"
          + " nodes, so its maps are not placed (cause=no-such-node); write hosts[].guests[].name as"
          + " the NodeManager does, or set yarn.nodemanager.hostname={} there", name, guest, guest);
    }
  }

  private synchronized boolean isNew(String name) {
    if (warned.size() == REMEMBERED) {
      LOG.warn("{} names are not in the site description; no more are logged", REMEMBERED);
      warned.add("");
    }
    return warned.size() < REMEMBERED && warned.add(name);
  }
}
