package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.vas.layout.LayoutConf;

class VasSwitchMappingTest {
  private static final Path EXAMPLE = Path.of("../../cluster/examples/laptop-lab.yaml");

  @TempDir private Path dir;

  private VasSwitchMapping mapping(Path site) {
    Configuration conf = new Configuration(false);
    conf.set(LayoutConf.CLUSTER_FILE.name(), site.toString());
    VasSwitchMapping mapping = new VasSwitchMapping();
    mapping.setConf(conf);
    return mapping;
  }

  @Test
  void putsAPairsHostsAndGuestsInOneRack() {
    assertEquals(
        List.of("/ha/oss1+oss2", "/ha/oss1+oss2", "/ha/oss1+oss2", "/ha/oss3+oss4", "/default-rack"),
        mapping(EXAMPLE).resolve(List.of("vm1", "oss2", "10.77.0.22", "10.77.0.13", "elsewhere")));
  }

  @Test
  void readsAChangedSiteAndKeepsTheOldOneWhenTheNewOneIsBroken() throws IOException {
    Path site = Files.copy(EXAMPLE, dir.resolve("cluster.yaml"));
    VasSwitchMapping mapping = mapping(site);
    Files.writeString(site, Files.readString(EXAMPLE).replace("name: vm1", "name: vm9"));
    mapping.reloadCachedMappings();
    assertEquals(List.of("/ha/oss1+oss2", "/default-rack"), mapping.resolve(List.of("vm9", "vm1")));
    Files.writeString(site, "site: [");
    mapping.reloadCachedMappings(List.of("vm9"));
    assertEquals(List.of("/ha/oss1+oss2"), mapping.resolve(List.of("vm9")));
  }

  @Test
  void refusesASiteItCannotRead() {
    assertThrows(IllegalArgumentException.class, () -> mapping(dir.resolve("missing.yaml")));
  }
}
