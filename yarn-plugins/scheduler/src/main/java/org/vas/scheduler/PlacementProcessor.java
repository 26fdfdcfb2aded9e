package org.vas.scheduler;

import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.ams.ApplicationMasterServiceContext;
import org.apache.hadoop.yarn.ams.ApplicationMasterServiceProcessor;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Places map tasks, and Spark's executors: a class for {@code yarn.resourcemanager.application-master-service.processors}.
 *
 * <p>It sees every heartbeat of every application master before the scheduler does. A site
 * description that it cannot read keeps the ResourceManager from starting; a later error of
 * placement never keeps a heartbeat from the scheduler.
 */
public class PlacementProcessor implements ApplicationMasterServiceProcessor {
  private static final Logger LOG = LoggerFactory.getLogger(PlacementProcessor.class);

  private final LongSupplier clock;
  private final ConcurrentMap<ApplicationAttemptId, Optional<PlacedAttempt>> attempts =
      new ConcurrentHashMap<>();
  private ApplicationMasterServiceProcessor next;
  private RMContext rm;

  /** Empty when placement is switched off: nothing is read, and nothing is done. */
  private Optional<PlacementSettings> settings = Optional.empty();
  private PlacementMetrics metrics;
  private RmNodes nodes;
  private IdleNodes idle;
  private DecisionLog log;

  /** Makes the processor with the JVM's clock; called by the ResourceManager. */
  public PlacementProcessor() {
    this(() -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
  }

  PlacementProcessor(LongSupplier clockMillis) {
    clock = clockMillis;
  }

  @Override
  public void init(
      ApplicationMasterServiceContext context, ApplicationMasterServiceProcessor nextProcessor) {
    next = nextProcessor;
    rm = (RMContext) context;
    Configuration conf = rm.getYarnConfiguration();
    settings = PlacementSettings.read(conf);
    if (settings.isPresent()) {
      metrics = PlacementMetrics.register();
      nodes = new RmNodes(rm, clock);
      idle = new IdleNodes(rm, nodes, clock);
      log = new DecisionLog(
          settings.get().logDirectory(), this::userOf, metrics::leftOutOfLog);
    }
  }

  @Override
  public void registerApplicationMaster(ApplicationAttemptId attempt,
      RegisterApplicationMasterRequest request, RegisterApplicationMasterResponse response)
      throws IOException, YarnException {
    attempts.remove(attempt);
    forgetGone();
    next.registerApplicationMaster(attempt, request, response);
  }

  @Override
  public void allocate(ApplicationAttemptId attempt, AllocateRequest request,
      AllocateResponse response) throws YarnException {
    Optional<PlacedAttempt> placed = attempts.computeIfAbsent(attempt, this::placementOrNone);
    placed.ifPresent(asks -> asks.before(request, rm.getScheduler()));
    next.allocate(attempt, request, response);
    placed.ifPresent(asks -> asks.after(response));
  }

  @Override
  public void finishApplicationMaster(ApplicationAttemptId attempt,
      FinishApplicationMasterRequest request, FinishApplicationMasterResponse response) {
    attempts.remove(attempt);
    settings.ifPresent(conf -> log.over(attempt.getApplicationId()));
    next.finishApplicationMaster(attempt, request, response);
  }

  /** Returns an application's owner; null for one that this ResourceManager has forgotten. */
  private String userOf(ApplicationId id) {
    RMApp app = rm.getRMApps().get(id);
    return app == null ? null : app.getUser();
  }

  /** Returns for how many application attempts this processor keeps a placement. */
  int attemptsKnown() {
    return attempts.size();
  }

  private Optional<PlacedAttempt> placementOrNone(ApplicationAttemptId attempt) {
    try {
      return placement(attempt);
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      metrics.failedOpen();
      LOG.error("{}: not placed, its tasks run wherever there is room", attempt, e);
      return Optional.empty();
    }
  }

  private Optional<PlacedAttempt> placement(ApplicationAttemptId attempt) {
    RMApp app = rm.getRMApps().get(attempt.getApplicationId());
    return settings.filter(conf -> conf.places(app)).map(conf -> new PlacedAttempt(attempt,
        new RmCluster(rm, nodes, idle, conf.racks(), attempt, () -> defaultLabel(app)),
        conf.waits(), metrics, log, clock));
  }

  /** The partition that YARN gives asks without a label: the application's, else the queue's. */
  private String defaultLabel(RMApp app) {
    String label = app.getApplicationSubmissionContext().getNodeLabelExpression();
    if (label == null && rm.getScheduler() instanceof CapacityScheduler) {
      CSQueue queue = ((CapacityScheduler) rm.getScheduler()).getQueue(app.getQueue());
      // The getter alone: what the queue's whole information costs, and its lock, are not needed.
      label = queue == null ? "" : Objects.requireNonNullElse(queue.getDefaultNodeLabelExpression(), "");
    }
    try {
      return Objects.requireNonNullElse(label != null ? label : rm.getScheduler()
          .getQueueInfo(app.getQueue(), false, false).getDefaultNodeLabelExpression(), "").trim();
    } catch (IOException queueIsGone) {
      return "";
    }
  }

  /** Returns how often the map of the ResourceManager's nodes was built. */
  long nodeBuilds() {
    return nodes.builds();
  }

  private void forgetGone() {
    try {
      attempts.keySet().removeIf(this::isGone);
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      LOG.error("attempts that are gone stay in memory", e);
    }
  }

  /** Waits until the decisions so far are in the log. */
  void drainLog() throws InterruptedException {
    log.drain();
  }

  /** Killed applications and failed attempts never say goodbye. */
  private boolean isGone(ApplicationAttemptId attempt) {
    RMApp app = rm.getRMApps().get(attempt.getApplicationId());
    RMAppAttempt current = app == null ? null : app.getCurrentAppAttempt();
    return current == null || !current.getAppAttemptId().equals(attempt) || app.isAppInCompletedStates();
  }
}
