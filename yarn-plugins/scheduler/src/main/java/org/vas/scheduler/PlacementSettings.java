package org.vas.scheduler;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.yarn.exceptions.YarnRuntimeException;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.vas.conf.ConfKey;
import org.vas.conf.LayoutConf;
import org.vas.scheduler.policy.WaitLimits;
import org.vas.site.ClusterMap;
import org.vas.site.ClusterMapException;

/** The settings that the ResourceManager was started with; a change needs a restart. */
final class PlacementSettings {
  private final SiteRacks racks;
  private final WaitLimits waits;
  private final Set<String> applicationTypes;
  private final String optOutTag;
  private final Optional<Path> logDirectory;

  private PlacementSettings(Configuration conf, SiteRacks racks) {
    this.racks = racks;
    waits = PlacementConf.waits(conf);
    applicationTypes = PlacementConf.applicationTypes(conf);
    optOutTag = PlacementConf.OPT_OUT_TAG.get(conf);
    logDirectory = PlacementConf.logDirectory(conf);
  }

  /**
   * Reads keys and site description; empty when placement is switched off.
   *
   * @throws YarnRuntimeException with one line that says what is wrong: tasks that are silently not
   *     placed would be worse than a ResourceManager that does not start
   */
  static Optional<PlacementSettings> read(Configuration conf) {
    try {
      // Before anything is read: the switch itself may be the misspelt key.
      ConfKey.refuseUnknown(conf, "vas.placement.", PlacementConf.class);
      return PlacementConf.ENABLED.get(conf)
          ? Optional.of(new PlacementSettings(conf, racks(conf)))
          : Optional.empty();
    } catch (ClusterMapException | IllegalArgumentException e) {
      throw new YarnRuntimeException("VAS placement: " + e.getMessage()
          + "; correct it, or set " + PlacementConf.ENABLED.name() + "=false", e);
    }
  }

  /**
   * Returns the racks of the site that the configuration names.
   *
   * @throws ClusterMapException with one line, if the site description cannot be used
   * @throws IllegalArgumentException that names the key, if one of {@code vas.cluster.*} is unknown
   */
  static SiteRacks racks(Configuration conf) throws ClusterMapException {
    Path file = LayoutConf.clusterFile(conf, System.getenv());
    return new SiteRacks(ClusterMap.load(file), NetUtils::normalizeHostName);
  }

  SiteRacks racks() {
    return racks;
  }

  WaitLimits waits() {
    return waits;
  }

  Optional<Path> logDirectory() {
    return logDirectory;
  }

  boolean places(RMApp app) {
    return app != null
        && applicationTypes.contains(app.getApplicationType())
        && !app.getApplicationTags().contains(optOutTag);
  }
}
