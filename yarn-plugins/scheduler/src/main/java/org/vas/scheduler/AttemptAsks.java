package org.vas.scheduler;

import static org.vas.scheduler.RowSet.key;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceBlacklistRequest;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.vas.scheduler.policy.AskKey;
import org.vas.scheduler.policy.AttemptPlacement;
import org.vas.scheduler.policy.PlacementEvent;

/**
 * Translates the asks of one application attempt to the policy's rows, and the policy's answer to
 * asks.
 */
final class AttemptAsks {
  private final RmCluster cluster;
  private final AttemptPlacement policy;

  /** Rows that stand strict in the scheduler because we made them so. */
  private final RowSet strict = new RowSet();

  AttemptAsks(RmCluster cluster, AttemptPlacement policy) {
    this.cluster = cluster;
    this.policy = policy;
  }

  /**
   * Returns the asks to send to the scheduler: those of the application, made strict or relaxed as
   * the policy says, and those of the scheduler's rows for which that has changed.
   *
   * @param live the rows the scheduler holds; their counts, not the application's last ones, are
   *     sent with a changed row, because containers may have been granted since
   */
  List<ResourceRequest> rewrite(List<ResourceRequest> asks, List<ResourceRequest> live,
      ResourceBlacklistRequest blacklist, long nowMillis) {
    cluster.refresh(live, asks);
    if (blacklist != null) {
      policy.blacklist(
          orEmpty(blacklist.getBlacklistAdditions()), orEmpty(blacklist.getBlacklistRemovals()));
    }
    policy.observe(counts(live));
    asks.forEach(this::ask);
    policy.decide(nowMillis);
    return answer(asks, live);
  }

  /**
   * Returns the application's asks, and with them each row that placement made strict, relaxed
   * again. Used once the policy has failed.
   *
   * @param live the rows the scheduler holds
   */
  List<ResourceRequest> relaxAll(List<ResourceRequest> asks, List<ResourceRequest> live) {
    List<ResourceRequest> answer = new ArrayList<>(asks);
    RowSet sent = new RowSet();
    asks.forEach(sent::add);
    live.stream()
        .filter(row -> strict.contains(row) && !sent.contains(row))
        .filter(row -> !row.getRelaxLocality() && row.getNumContainers() > 0)
        .forEach(row -> answer.add(copy(row, true)));
    return answer;
  }

  /** Takes the resources that the queue's limits leave to the application; null if unknown. */
  void headroom(Resource left) {
    cluster.headroom(left);
  }

  void granted(Container container, long nowMillis, Consumer<PlacementEvent> grants) {
    AskKey key =
        new AskKey(container.getPriority().getPriority(), container.getAllocationRequestId());
    policy.granted(key, container.getNodeId().getHost(), nowMillis, grants);
  }

  private void ask(ResourceRequest row) {
    policy.ask(key(row), row.getResourceName(), row.getNumContainers());
    if (isOthers(row)) {
      policy.leaveUntouched(key(row));
    }
  }

  /** Whoever names another execution type or a strict row places its tasks itself. */
  private static boolean isOthers(ResourceRequest row) {
    return !row.getRelaxLocality()
        || (row.getExecutionTypeRequest() != null
            && row.getExecutionTypeRequest().getExecutionType() == ExecutionType.OPPORTUNISTIC);
  }

  private List<ResourceRequest> answer(List<ResourceRequest> asks, List<ResourceRequest> live) {
    List<ResourceRequest> answer = new ArrayList<>(asks.size());
    RowSet sent = new RowSet();
    for (ResourceRequest row : asks) {
      sent.add(row);
      answer.add(mustChange(row) ? changed(row) : row);
    }
    for (ResourceRequest row : live) {
      if (row.getNumContainers() > 0 && !sent.contains(row) && mustChange(row)) {
        answer.add(changed(row));
      }
    }
    return answer;
  }

  private boolean mustChange(ResourceRequest row) {
    boolean relaxed = policy.isRelaxed(key(row), row.getResourceName());
    return policy.isManaged(key(row))
        ? relaxed != row.getRelaxLocality()
        : !row.getRelaxLocality() && strict.contains(row);
  }

  private ResourceRequest changed(ResourceRequest row) {
    boolean relaxed = !row.getRelaxLocality();
    if (relaxed) {
      strict.remove(row);
    } else {
      strict.add(row);
    }
    return copy(row, relaxed);
  }

  private static ResourceRequest copy(ResourceRequest row, boolean relaxed) {
    boolean any = ResourceRequest.isAnyLocation(row.getResourceName());
    return ResourceRequest.newBuilder()
        .priority(row.getPriority())
        .allocationRequestId(row.getAllocationRequestId())
        .resourceName(row.getResourceName())
        .capability(row.getCapability())
        .numContainers(row.getNumContainers())
        // The scheduler writes ANY's label into the other rows, but accepts it on ANY only.
        .nodeLabelExpression(any ? row.getNodeLabelExpression() : null)
        .executionTypeRequest(row.getExecutionTypeRequest())
        .relaxLocality(relaxed)
        .build();
  }

  private static Map<AskKey, Map<String, Integer>> counts(List<ResourceRequest> live) {
    Map<AskKey, Map<String, Integer>> counts = new HashMap<>();
    live.forEach(row -> counts
        .computeIfAbsent(key(row), key -> new HashMap<>())
        .put(row.getResourceName(), row.getNumContainers()));
    return counts;
  }

  private static Collection<String> orEmpty(List<String> names) {
    return names == null ? List.of() : names;
  }
}
