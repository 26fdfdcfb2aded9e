package org.vas.scheduler;

import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.scheduler.policy.PlacementEvent;

/** One line per decision, key=value, by the logger {@code vas.placement}: see docs/placement.md. */
final class DecisionLog {
  private static final Logger LOG = LoggerFactory.getLogger("vas.placement");

  private DecisionLog() {}

  static void decided(ApplicationId app, PlacementEvent event) {
    LOG.info("event={} app={} key={} host={} waited_ms={} cause={}",
        event.type(), app, event.key(), event.host(), event.waitedMillis(), event.cause());
  }

  static void granted(ApplicationId app, ContainerId container, PlacementEvent event) {
    LOG.info("event={} app={} key={} host={} node={} locality={} waited_ms={} cause={} container={}",
        event.type(), app, event.key(), event.host(), event.node(), event.locality(),
        event.waitedMillis(), event.cause(), container);
  }
}
