package org.vas.scheduler;

import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.YarnScheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.scheduler.policy.AttemptPlacement;
import org.vas.scheduler.policy.PlacementEvent;
import org.vas.scheduler.policy.WaitLimits;

/**
 * Places the asks of one attempt: sees its heartbeats before and after the scheduler.
 *
 * <p>An error of placement ends it for this attempt, and with it every wait that it imposed; the
 * heartbeat itself goes on as it came. Such an error is an exception, a class or method that this
 * Hadoop does not have, or a recursion without an end; an error that ends the whole process, as of
 * memory, is not caught.
 */
final class PlacedAttempt {
  private static final Logger LOG = LoggerFactory.getLogger(PlacedAttempt.class);

  private final ApplicationAttemptId attempt;
  private final PlacementMetrics metrics;
  private final DecisionLog log;
  private final AttemptAsks asks;
  private final LongSupplier clock;
  private boolean failed;

  PlacedAttempt(ApplicationAttemptId attempt, RmCluster cluster, WaitLimits waits,
      PlacementMetrics metrics, DecisionLog log, LongSupplier clockMillis) {
    this.attempt = attempt;
    clock = clockMillis;
    this.metrics = metrics;
    this.log = log;
    asks = new AttemptAsks(cluster, new AttemptPlacement(waits, cluster, this::decided));
  }

  void before(AllocateRequest request, YarnScheduler scheduler) {
    if (failed) {
      relaxAll(request, scheduler);
      return;
    }
    List<ResourceRequest> original = request.getAskList();
    try {
      List<ResourceRequest> answer = asks.rewrite(
          original, live(scheduler), request.getResourceBlacklistRequest(), clock.getAsLong());
      send(request, original, answer);
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      failOpen(e);
      request.setAskList(original);
      relaxAll(request, scheduler);
    }
  }

  void after(AllocateResponse response) {
    try {
      asks.headroom(response.getAvailableResources());
      for (Container container : failed ? List.<Container>of() : response.getAllocatedContainers()) {
        asks.granted(container, clock.getAsLong(), event -> granted(container, event));
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      failOpen(e);
    }
  }

  private void send(
      AllocateRequest request, List<ResourceRequest> original, List<ResourceRequest> answer) {
    int changed = answer.size() - original.size();
    for (int i = 0; i < original.size(); i++) {
      changed += answer.get(i).getRelaxLocality() == original.get(i).getRelaxLocality() ? 0 : 1;
    }
    if (changed > 0) {
      request.setAskList(answer);
      metrics.rewritten(changed);
    }
  }

  private void failOpen(Throwable cause) {
    failed = true;
    metrics.failedOpen();
    LOG.error("{}: not placed any more, its tasks run wherever there is room", attempt, cause);
  }

  /** At every heartbeat from then on: the scheduler may take strict rows back when it preempts. */
  private void relaxAll(AllocateRequest request, YarnScheduler scheduler) {
    try {
      request.setAskList(asks.relaxAll(request.getAskList(), live(scheduler)));
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      LOG.warn("{}: cannot relax asks sent before", attempt, e);
    }
  }

  private List<ResourceRequest> live(YarnScheduler scheduler) {
    return Objects.requireNonNullElse(
        scheduler.getPendingResourceRequestsForAttempt(attempt), List.of());
  }

  private void decided(PlacementEvent event) {
    metrics.decided(event);
    log.decided(attempt.getApplicationId(), event);
  }

  private void granted(Container container, PlacementEvent event) {
    metrics.granted(event);
    log.granted(attempt.getApplicationId(), container.getId(), event);
  }
}
