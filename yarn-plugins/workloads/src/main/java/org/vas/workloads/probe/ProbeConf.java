package org.vas.workloads.probe;

import org.vas.conf.ConfKey;

/** The configuration keys of a probe job, which say what records it makes. */
public interface ProbeConf {
  ConfKey<Integer> MAPS = ConfKey.integer("probe.maps", 4, 1, 10000, "Map tasks.");
  ConfKey<Integer> RECORDS =
      ConfKey.integer("probe.records", 10000, 0, Integer.MAX_VALUE, "Records of each map.");
  ConfKey<Integer> KEYS =
      ConfKey.integer("probe.keys", 1000, 1, Integer.MAX_VALUE, "About how many different keys.");
  ConfKey<Long> VALUE_BYTES =
      ConfKey.bytes("probe.value-bytes", "90", "0", "1g", "Longest value.");
  ConfKey<Long> LEAST_VALUE_BYTES = ConfKey.bytes("probe.least-value-bytes", "1", "0", "1g",
      "Shortest value; no longer than the longest.");
  ConfKey<Integer> SKEW = ConfKey.integer("probe.skew-percent", 0, 0, 100,
      "Share of the records that have one and the same key.");
  ConfKey<Integer> EMPTY_MAPS =
      ConfKey.integer("probe.every-nth-map-is-empty", 0, 0, 10000,
          "Every n-th map emits no record; 0: every map emits some.");
  ConfKey<Boolean> GROUPED = ConfKey.flag("probe.grouped", false,
      "Whether keys sort backwards, and are one group by their first 2 bytes, for reduce() and for"
          + " the combiner.");
  ConfKey<Boolean> COMBINE = ConfKey.flag("probe.combine", false, "Whether there is a combiner.");
  ConfKey<Boolean> OLD_API =
      ConfKey.flag("probe.old-api", false, "org.apache.hadoop.mapred instead of mapreduce.");
}
