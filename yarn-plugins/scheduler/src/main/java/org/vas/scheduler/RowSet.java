package org.vas.scheduler;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.vas.scheduler.policy.AskKey;

/** Ask rows by what identifies them in YARN's scheduler: key and resource name. */
final class RowSet {
  private final Map<AskKey, Set<String>> names = new HashMap<>();

  static AskKey key(ResourceRequest row) {
    return new AskKey(row.getPriority().getPriority(), row.getAllocationRequestId());
  }

  void add(ResourceRequest row) {
    names.computeIfAbsent(key(row), key -> new HashSet<>()).add(row.getResourceName());
  }

  boolean contains(ResourceRequest row) {
    return names.getOrDefault(key(row), Set.of()).contains(row.getResourceName());
  }

  void remove(ResourceRequest row) {
    names.computeIfPresent(key(row), (key, set) -> {
      set.remove(row.getResourceName());
      return set.isEmpty() ? null : set;
    });
  }
}
