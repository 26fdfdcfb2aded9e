package org.vas.scheduler;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.net.DNSToSwitchMapping;
import org.apache.hadoop.net.NetworkTopology;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.layout.ClusterMap;
import org.vas.layout.ClusterMapException;
import org.vas.layout.LayoutConf;

/**
 * Makes every HA pair of the site a rack: {@code net.topology.node.switch.mapping.impl}.
 *
 * <p>The ResourceManager and the application masters must both use it, because YARN grants a
 * container on a node only when the ask has a row for the rack the ResourceManager knows it in.
 */
public final class VasSwitchMapping extends Configured implements DNSToSwitchMapping {
  private static final Logger LOG = LoggerFactory.getLogger(VasSwitchMapping.class);

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
    return names.stream()
        .map(name -> site.rackOf(name).orElse(NetworkTopology.DEFAULT_RACK))
        .collect(Collectors.toList());
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
      return new SiteRacks(ClusterMap.load(LayoutConf.clusterFile(conf, System.getenv())));
    } catch (ClusterMapException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }
}
