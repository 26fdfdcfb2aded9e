package org.vas.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class PlacementConfTest {
  @Test
  void readsWaitsWithUnitsAndTypesAsAList() {
    Configuration conf = new Configuration(false);
    conf.set("vas.placement.node-wait", "1m");
    conf.set("vas.placement.application-types", " MAPREDUCE, TEZ,");
    assertEquals(60_000, PlacementConf.waits(conf).nodeMillis());
    assertEquals(65_000, PlacementConf.waits(conf).totalMillis());
    assertEquals(Set.of("MAPREDUCE", "TEZ"), PlacementConf.applicationTypes(conf));
  }
}
