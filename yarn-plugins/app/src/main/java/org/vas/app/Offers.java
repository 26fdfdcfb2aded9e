package org.vas.app;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;

/**
 * Offers waiting containers to kinds of tasks, in one round of the allocator. A map is first
 * offered a container of a host that has its data, after the locality delay one of that rack, and
 * after twice the delay any; if no waiting map names a host, any container at once.
 *
 * <p>The allocator gives an offered container to whichever attempt is left. So no more containers
 * of a host are offered than attempts have their data there. While a map waits that failed before,
 * at most one container is offered to maps, and only where their data is.
 */
final class Offers {
  private final Demand demand;
  private final UnaryOperator<String> rackOf;
  private final long delay;
  private final boolean toReduces;
  private final int scheduledReduces;
  private final Map<String, Integer> offered = new HashMap<>();
  private int maps;
  private int reduces;

  /**
   * Begins a round.
   *
   * @param rackOf gives the rack of a host
   * @param delay the locality delay, in milliseconds
   * @param toReduces whether reduces may run in the containers of maps
   * @param scheduledReduces the reduces that the allocator does not hold back
   */
  Offers(Demand demand, UnaryOperator<String> rackOf, long delay, boolean toReduces,
      int scheduledReduces) {
    this.demand = demand;
    this.rackOf = rackOf;
    this.delay = delay;
    this.toReduces = toReduces;
    this.scheduledReduces = Math.min(demand.reduces(), scheduledReduces);
  }

  /**
   * Returns the kind of task to offer a container to; empty when it must wait.
   *
   * @param host the container's host
   * @param type the kind of the container's first task
   * @param waited milliseconds that the container has waited
   */
  Optional<TaskType> offer(String host, TaskType type, long waited) {
    if (wantsMap(host, type, waited)) {
      maps++;
      return Optional.of(TaskType.MAP);
    }
    boolean mapsWait = demand.maps() > 0 || demand.hasAgain(TaskType.MAP);
    return mapsWait ? Optional.empty() : offerToReduces(type);
  }

  /**
   * Returns the kind of task to offer a container to that reduces have waited for; empty when it has
   * other options than they need.
   */
  Optional<TaskType> offerToReduces(TaskType type) {
    boolean fits = toReduces || type == TaskType.REDUCE;
    if (!fits || demand.hasAgain(TaskType.REDUCE) || reduces >= scheduledReduces) {
      return Optional.empty();
    }
    reduces++;
    return Optional.of(TaskType.REDUCE);
  }

  private boolean wantsMap(String host, TaskType type, long waited) {
    // One at a time, the allocator takes it for whom it is meant.
    boolean isOneEnough = demand.hasAgain(TaskType.MAP) && maps > 0;
    if (isOneEnough || maps >= demand.maps() || (type == TaskType.REDUCE && !toReduces)) {
      return false;
    }
    return take(host)
        || (waited >= delay && take(rackOf.apply(host)))
        || (isAnyGood(waited) && !demand.hasAgain(TaskType.MAP));
  }

  private boolean isAnyGood(long waited) {
    return waited >= 2 * delay || !demand.hasPlacedMaps();
  }

  private boolean take(String place) {
    boolean wanted = offered.getOrDefault(place, 0) < demand.mapsAt(place);
    if (wanted) {
      offered.merge(place, 1, Integer::sum);
    }
    return wanted;
  }
}
