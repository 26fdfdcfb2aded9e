package org.vas.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class ConfKeyTest {
  private static final ConfKey<Long> SIZE =
      ConfKey.bytes("test.size", "128m", "64k", "4g", "A size.");
  private static final ConfKey<Integer> COUNT =
      ConfKey.integer("test.count", 3, -1, 2000, "A count.");
  private static final ConfKey<Boolean> FLAG = ConfKey.flag("test.flag", true, "A switch.");

  private final Configuration conf = new Configuration(false);

  @Test
  void defaultsAreParsedAsValuesAre() {
    assertEquals(128L << 20, SIZE.get(conf));
    assertEquals(3, COUNT.get(conf));
    assertEquals(true, FLAG.get(conf));
    assertEquals(Duration.ofSeconds(10), LayoutConf.OWNERS_TTL.get(conf));
  }

  @Test
  void valuesHaveHadoopsUnits() {
    conf.set("test.size", " 1g ");
    conf.set("vas.layout.owners-ttl", "2m");
    assertEquals(1L << 30, SIZE.get(conf));
    assertEquals(Duration.ofMinutes(2), LayoutConf.OWNERS_TTL.get(conf));
  }

  @Test
  void aWrongValueIsRefusedWithKeyAndBounds() {
    refuses(SIZE, "63k", "test.size: '63k' is not a valid size; use 64k to 4g");
    refuses(SIZE, "much", "test.size: 'much' is not a valid size; use 64k to 4g");
    refuses(COUNT, "2001", "test.count: '2001' is not a valid integer; use -1 to 2000");
    refuses(FLAG, "yes", "test.flag: 'yes' is not a valid boolean; use true or false");
    refuses(LayoutConf.OWNERS_TTL, "2h",
        "vas.layout.owners-ttl: '2h' is not a valid time; use 0s to 1h");
    refuses(LayoutConf.OWNERS_TTL, "soon",
        "vas.layout.owners-ttl: 'soon' is not a valid time; use 0s to 1h");
  }

  @Test
  void aDefaultOutsideItsBoundsCannotBeDeclared() {
    assertThrows(IllegalArgumentException.class,
        () -> ConfKey.integer("test.count", 3, 4, 5, "Impossible."));
  }

  @Test
  void anInterfaceTellsItsKeys() {
    assertEquals(List.of(LayoutConf.CLUSTER_FILE, LayoutConf.OWNERS_TTL),
        ConfKey.declaredIn(LayoutConf.class));
  }

  @Test
  void theMapIsTheConfiguredOneElseTheEnvironmentsElseTheSites() {
    assertEquals(Path.of("/etc/vas/cluster.yaml"), LayoutConf.clusterFile(conf, Map.of()));
    Map<String, String> environment = Map.of("VAS_CLUSTER", "/e.yaml");
    assertEquals(Path.of("/e.yaml"), LayoutConf.clusterFile(conf, environment));
    conf.set("vas.cluster.file", "/c.yaml");
    assertEquals(Path.of("/c.yaml"), LayoutConf.clusterFile(conf, environment));
  }

  @Test
  void aMisspeltKeyIsRefusedByName() {
    conf.set("vas.cluster.flie", "/c.yaml");
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
        () -> LayoutConf.clusterFile(conf, Map.of()));
    assertEquals("vas.cluster.flie: unknown key; did you mean vas.cluster.file?",
        refused.getMessage());
  }

  /** Keys of which one has been renamed. */
  interface Renamed {
    ConfKey<String> NEW = ConfKey.text("test.renamed.new", "", "A text.");
    ConfKey<String> OLD = ConfKey.retired("test.renamed.old", "use test.renamed.new");
  }

  @Test
  void aRetiredKeyIsRefusedWithItsSuccessor() {
    ConfKey.refuseUnknown(conf, "test.renamed.", Renamed.class);
    conf.set("test.renamed.old", "x");
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
        () -> ConfKey.refuseUnknown(conf, "test.renamed.", Renamed.class));
    assertEquals("test.renamed.old: is retired; use test.renamed.new", refused.getMessage());
    conf.unset("test.renamed.old");
    conf.set("test.renamed.odl", "x");
    refused = assertThrows(IllegalArgumentException.class,
        () -> ConfKey.refuseUnknown(conf, "test.renamed.", Renamed.class));
    assertEquals("test.renamed.odl: unknown key; known keys: test.renamed.new",
        refused.getMessage());
  }

  private void refuses(ConfKey<?> key, String value, String message) {
    conf.set(key.name(), value);
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> key.get(conf));
    assertEquals(message, refused.getMessage());
  }
}
