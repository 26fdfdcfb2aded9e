package org.vas.filesystem;

import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;

/** Ways to answer for block locations; {@link LustreConf#LOCATIONS} chooses one. */
enum Locations {
  /** The VM of the storage server that serves the block's OST. */
  VM,
  /** {@code localhost}, as a shared file system answers that knows no locations. */
  NONE;

  static Locations of(Configuration conf) {
    String value = LustreConf.LOCATIONS.get(conf);
    return Arrays.stream(values()).filter(each -> each.name().equalsIgnoreCase(value)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            LustreConf.LOCATIONS.name() + ": '" + value + "' is not known; use vm or none"));
  }

  boolean needSite() {
    return this == VM;
  }
}
