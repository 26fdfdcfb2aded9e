package org.vas.workloads.probe;

import org.vas.conf.ConfKey;

/** The shape of a probe job. */
public interface ProbeConf {
  ConfKey<Integer> MAPS = ConfKey.integer("probe.maps", 4, 1, 10000, "Map tasks.");
  ConfKey<Integer> RECORDS =
      ConfKey.integer("probe.records", 10000, 0, Integer.MAX_VALUE, "Records of each map.");
  ConfKey<Integer> KEYS =
      ConfKey.integer("probe.keys", 1000, 1, Integer.MAX_VALUE, "Different keys, about.");
  ConfKey<Long> VALUE_BYTES =
      ConfKey.bytes("probe.value-bytes", "90", "0", "1g", "Longest value.");
  ConfKey<Long> LEAST_VALUE_BYTES = ConfKey.bytes("probe.least-value-bytes", "1", "0", "1g",
      "Shortest value; no longer than the longest.");
  ConfKey<Integer> SKEW = ConfKey.integer("probe.skew-percent", 0, 0, 100,
      "Share of the records that have one and the same key.");
  ConfKey<Integer> EMPTY_MAPS =
      ConfKey.integer("probe.every-nth-map-is-empty", 0, 0, 10000, "0: none is.");
  ConfKey<Boolean> GROUPED = ConfKey.flag("probe.grouped", false,
      "Whether keys sort backwards, and are one group by their first 2 bytes, for reduce() and for"
          + " the combiner.");
  ConfKey<Boolean> COMBINE = ConfKey.flag("probe.combine", false, "Whether there is a combiner.");
  ConfKey<Boolean> OLD_API =
      ConfKey.flag("probe.old-api", false, "org.apache.hadoop.mapred instead of mapreduce.");
}
