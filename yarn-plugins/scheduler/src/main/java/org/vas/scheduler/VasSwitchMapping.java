package org.vas.scheduler;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.net.DNSToSwitchMapping;
import org.apache.hadoop.net.NetworkTopology;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.site.ClusterMapException;

/**
 * Makes every HA pair of the site a rack: a class for {@code
 * net.topology.node.switch.mapping.impl}.
 *
 * <p>The ResourceManager and the application masters must both use it, because YARN grants a
 * container on a node only when the ask has a row for the rack the ResourceManager knows it in.
 */
public final class VasSwitchMapping extends Configured implements DNSToSwitchMapping {
  private static final Logger LOG = LoggerFactory.getLogger(VasSwitchMapping.class);

  private final UnknownNames unknown = new UnknownNames();
  private volatile SiteRacks racks;

  @Override
  public void setConf(Configuration conf) {
    super.setConf(conf);
    if (conf != null) {
      racks = read(conf);
    }
  }

  @Override
  public List<String> resolve(List<String> names) {
    SiteRacks site = racks;
    return names.stream().map(name -> resolve(site, name)).collect(Collectors.toList());
  }

  private String resolve(SiteRacks site, String name) {
    site.otherSpelling(name).ifPresent(guest -> unknown.spelledOtherwise(name, guest));
    return site.rackOf(name).orElseGet(() -> {
      unknown.inNoRack(name);
      return NetworkTopology.DEFAULT_RACK;
    });
  }

  /** Reads the site description again; a broken one leaves the racks as they were. */
  @Override
  public void reloadCachedMappings() {
    try {
      racks = read(getConf());
    } catch (IllegalArgumentException e) {
      LOG.error("{}; keeping the racks read before", e.getMessage());
    }
  }

  @Override
  public void reloadCachedMappings(List<String> names) {
    reloadCachedMappings();
  }

  private static SiteRacks read(Configuration conf) {
    try {
      return PlacementSettings.racks(conf);
    } catch (ClusterMapException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "net.topology.node.switch.mapping.impl=" + VasSwitchMapping.class.getName() + ": "
              + e.getMessage() + "; correct it, or remove the key", e);
    }
  }
}
