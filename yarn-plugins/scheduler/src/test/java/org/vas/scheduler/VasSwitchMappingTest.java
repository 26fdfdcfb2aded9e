package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.vas.conf.LayoutConf;

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
  void takesAGuestByItsOtherSpellingAndSaysSoOnce() {
    VasSwitchMapping mapping = mapping(EXAMPLE);
    try (CapturedLog log = new CapturedLog(VasSwitchMapping.class.getName())) {
      for (int i = 0; i < 3; i++) {
        assertEquals(List.of("/ha/oss1+oss2"), mapping.resolve(List.of("vm1.example.org")));
      }
      assertEquals(1, log.text().lines().count(), log.text());
      assertTrue(log.text().contains("vm1.example.org: the site description calls this guest vm1"),
          log.text());
    }
  }

  @Test
  void warnsOnceOfWhatTheSiteDoesNotHaveAndNotForEver() {
    VasSwitchMapping mapping = mapping(EXAMPLE);
    try (CapturedLog log = new CapturedLog(VasSwitchMapping.class.getName())) {
      for (int i = 0; i < 2_000; i++) {
        String address = "192.0.2." + i % 250;
        assertEquals(List.of("/default-rack"), mapping.resolve(List.of(address)));
      }
      assertEquals(250, log.text().lines().count());
      assertTrue(log.text().startsWith("192.0.2.0: not in the site description"), log.text());
      for (int i = 0; i < 2_000; i++) {
        mapping.resolve(List.of("10.9." + i / 250 + "." + i % 250));
      }
      assertEquals(1_000 + 1, log.text().lines().count());
      assertTrue(log.text().endsWith("no more are logged\n"));
    }
  }

  @Test
  void takesAHostByAnAddressThatItsNameResolvesTo() throws IOException {
    Path site = dir.resolve("cluster.yaml");
    Files.writeString(site, Files.readString(EXAMPLE).replace("name: vm3", "name: localhost"));
    assertEquals(List.of("/ha/oss3+oss4"), mapping(site).resolve(List.of("127.0.0.1")));
  }

  @Test
  void refusesASiteItCannotRead() {
    assertThrows(IllegalArgumentException.class, () -> mapping(dir.resolve("missing.yaml")));
  }

  @Test
  void saysInOneLineWhatIsWrongAndWhichKeyToMend() throws IOException {
    Path site = Files.writeString(dir.resolve("cluster.yaml"), "lustre: {}\nhosts: []\n");
    String message =
        assertThrows(IllegalArgumentException.class, () -> mapping(site)).getMessage();
    assertEquals(1, message.lines().count(), message);
    assertTrue(message.startsWith("net.topology.node.switch.mapping.impl="), message);
    assertTrue(message.endsWith(
        ": " + site + ":1: lustre: key fsname is missing; correct it, or remove the key"), message);
  }
}
