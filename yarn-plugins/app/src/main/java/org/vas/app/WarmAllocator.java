package org.vas.app;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.client.ClientService;
import org.apache.hadoop.mapreduce.v2.app.job.event.JobCounterUpdateEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptContainerAssignedEvent;
import org.apache.hadoop.mapreduce.v2.app.launcher.ContainerLauncher;
import org.apache.hadoop.mapreduce.v2.app.launcher.ContainerLauncherEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocatorEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerRequestEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.RMContainerAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.Scheduled;
import org.apache.hadoop.mapreduce.v2.app.rm.preemption.AMPreemptionPolicy;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.util.RackResolver;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hadoop's allocator with a pool of waiting containers. It is told that an attempt's container has
 * completed when the JVM asks for more, and that a waiting container was just allocated when it is
 * offered. A waiting container that it would release stays in the pool until its idle time is over.
 *
 * <p>Between two heartbeats to the ResourceManager it runs rounds of its own as soon as a container
 * is ready: a heartbeat whose answer holds only the pool's containers.
 */
class WarmAllocator extends RMContainerAllocator {
  private static final Logger LOG = LoggerFactory.getLogger(WarmAllocator.class);
  // As RMContainerAllocator has them, where other packages cannot see them.
  private static final Priority MAP = Priority.newInstance(20);
  private static final Priority REDUCE = Priority.newInstance(10);
  private static final long IDLE_ROUND_MILLIS = 100;
  // A JVM that waits asks ten times a second (VasChild); a silent one may hang, and gets no task.
  private static final long SILENT_MILLIS = 2_000;
  // One that hung as it was given a task. Longer: it may read the task, or collect garbage.
  private static final long SILENTLY_GIVEN_MILLIS = 20_000;

  private final WarmPool pool;
  private final Demand demand = new Demand();
  private final Thread rounds = new Thread(this::runRounds, "VAS warm containers");
  private final Unserved again = new Unserved();
  private final Unserved reduces = new Unserved();
  private boolean toReduces;
  private long idleMillis;
  private long delayMillis;
  private boolean ownRound;
  private boolean isResourceManagerThere;
  private final Set<NodeId> lost = new HashSet<>();
  // Attempts that were killed before they had a container.
  private final Set<TaskAttemptId> gone = new HashSet<>();

  @SuppressWarnings("unchecked")
  WarmAllocator(ClientService client, AppContext context, AMPreemptionPolicy preemption,
      WarmPool pool) {
    super(client, context, preemption);
    this.pool = pool;
    EventHandler<Event<?>> dispatcher = eventHandler;
    EventHandler<Event<?>> watched = event -> {
      watch(event);
      dispatcher.handle(event);
    };
    eventHandler = watched;
    rounds.setDaemon(true);
  }

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    toReduces = ReusePolicy.reducesFitMaps(conf);
    idleMillis = ReuseConf.IDLE_TIME.get(conf).toMillis();
    delayMillis = ReuseConf.LOCALITY_DELAY.get(conf).toMillis();
    super.serviceInit(conf);
  }

  @Override
  protected void serviceStart() throws Exception {
    super.serviceStart();
    startRounds();
  }

  /** Starts the rounds between heartbeats. */
  protected void startRounds() {
    rounds.start();
  }

  @Override
  protected void serviceStop() throws Exception {
    rounds.interrupt();
    LOG.info("{}", pool.summary());
    super.serviceStop();
  }

  @Override
  protected synchronized void handleEvent(ContainerAllocatorEvent event) {
    if (event.getType() == ContainerAllocator.EventType.CONTAINER_REQ) {
      demand.add((ContainerRequestEvent) event);
    } else {
      demand.remove(event.getAttemptID());
      gone.add(event.getAttemptID());
    }
    super.handleEvent(event);
  }

  // Every assignment goes through the event handler, under this allocator's lock.
  private void watch(Event<?> event) {
    if (event instanceof TaskAttemptContainerAssignedEvent) {
      TaskAttemptContainerAssignedEvent assigned = (TaskAttemptContainerAssignedEvent) event;
      demand.remove(assigned.getTaskAttemptID());
      boolean waited = pool.assigned(assigned.getContainer(), assigned.getTaskAttemptID());
      count(assigned.getTaskAttemptID().getTaskId().getJobId(),
          waited ? ContainerCounter.CONTAINERS_REUSED : ContainerCounter.CONTAINERS_LAUNCHED);
      // Hadoop keeps a reduce that was killed while it was held back, and assigns it: nobody runs it.
      if (gone.remove(assigned.getTaskAttemptID())) {
        handle(new ContainerAllocatorEvent(
            assigned.getTaskAttemptID(), ContainerAllocator.EventType.CONTAINER_DEALLOCATE));
      }
    }
  }

  @SuppressWarnings("unchecked")
  private void count(JobId job, ContainerCounter counter) {
    JobCounterUpdateEvent update = new JobCounterUpdateEvent(job);
    update.addCounterUpdate(counter, 1);
    eventHandler.handle(update);
  }

  private void runRounds() {
    try {
      while (!Thread.currentThread().isInterrupted()) {
        pool.awaitReady(IDLE_ROUND_MILLIS);
        if (!runRound()) {
          TimeUnit.MILLISECONDS.sleep(IDLE_ROUND_MILLIS);
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("The master stops", e);
    }
  }

  // While YARN does not answer, a round of ours would reset Hadoop's count of the time.
  private synchronized boolean runRound() throws InterruptedException {
    if (!isResourceManagerThere) {
      return false;
    }
    ownRound = true;
    try {
      heartbeat();
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      LOG.error("A container that waits could not be given to a task", e);
    } finally {
      ownRound = false;
    }
    return true;
  }

  @Override
  protected AllocateResponse makeRemoteRequest() throws YarnException, java.io.IOException {
    AllocateResponse response = ownRound ? emptyResponse() : realResponse();
    List<ContainerStatus> completed = new ArrayList<>();
    for (ContainerStatus status : response.getCompletedContainersStatuses()) {
      completedForReal(status).ifPresent(completed::add);
    }
    for (Container ready : pool.takeReady()) {
      completed.add(ContainerStatus.newInstance(ready.getId(), ContainerState.COMPLETE, "", 0));
    }
    endWhere(response);
    releaseSilent();
    List<Container> allocated = new ArrayList<>(response.getAllocatedContainers());
    if (!ownRound) {
      again.answered(
          demand.hasAgain(TaskType.MAP) || demand.hasAgain(TaskType.REDUCE), !allocated.isEmpty());
      reduces.answered(Scheduled.reduces(this) > 0, !allocated.isEmpty());
    }
    // What YARN gives may go to any attempt; while one waits for a new JVM, nothing is offered
    // beside.
    if (allocated.isEmpty() || !demand.hasAgain(TaskType.MAP)) {
      allocated.addAll(offers());
    }
    response.setCompletedContainersStatuses(completed);
    response.setAllocatedContainers(allocated);
    return response;
  }

  private AllocateResponse realResponse() throws YarnException, java.io.IOException {
    isResourceManagerThere = false;
    AllocateResponse response = super.makeRemoteRequest();
    isResourceManagerThere = true;
    return response;
  }

  private static AllocateResponse emptyResponse() {
    return AllocateResponse.newBuilder()
        .updatedNodes(new ArrayList<>())
        .completedContainersStatuses(new ArrayList<>())
        .allocatedContainers(new ArrayList<>())
        .build();
  }

  /** Returns what the allocator hears of a container that is over; empty when it hears nothing. */
  private Optional<ContainerStatus> completedForReal(ContainerStatus status) {
    ContainerId id = status.getContainerId();
    Optional<WarmContainer> found = pool.completed(id);
    if (found.isEmpty()) {
      return Optional.of(status);
    }
    WarmContainer warm = found.get();
    pendingRelease.remove(id);
    switch (warm.state) {
      case IDLE:
        LOG.info("Container {} ended while it waited: {}", id, status.getDiagnostics());
        forget(warm.container, warm.firstAttempt);
        return Optional.empty();
      case ENDING:
        forget(warm.container, warm.firstAttempt);
        return Optional.of(status);
      case ASSIGNED:
      case LAUNCHED:
        // Its attempt never began, so that it is not to blame: YARN's own kills count as none.
        status.setExitStatus(ContainerExitStatus.ABORTED);
        return Optional.of(status);
      default:
        return Optional.of(status);
    }
  }

  // Without this the launcher would stop the container once more when the master ends, and wait for
  // its node if that is gone.
  @SuppressWarnings("unchecked")
  private void forget(Container container, TaskAttemptId firstAttempt) {
    eventHandler.handle(new ContainerLauncherEvent(firstAttempt, container.getId(),
        container.getNodeId().toString(), container.getContainerToken(),
        ContainerLauncher.EventType.CONTAINER_COMPLETED));
  }

  private List<Container> offers() {
    Offers round = new Offers(demand, host -> RackResolver.resolve(host).getNetworkLocation(),
        delayMillis, toReduces, Scheduled.reduces(this));
    boolean makesRoom = demand.maps() == 0 && demand.hasAgain(TaskType.MAP);
    List<Container> offered = new ArrayList<>();
    for (WarmPool.Idle idle : pool.idle()) {
      Container container = idle.container;
      if (idle.silent >= SILENT_MILLIS) {
        end(container.getId(), "its JVM has not asked for a task for " + idle.silent + " ms");
        continue;
      }
      if (idle.isTooOld) {
        end(container.getId(), "it is as old as it may be");
        continue;
      }
      if (again.take()) {
        end(container.getId(), "an attempt that failed before waits for a JVM of its own");
        continue;
      }
      TaskType first = idle.firstAttempt.getTaskId().getTaskType();
      boolean reducesFirst = reduces.take();
      Optional<TaskType> kind = reducesFirst ? round.offerToReduces(first)
          : round.offer(container.getNodeId().getHost(), first, idle.waited);
      if (kind.isPresent()) {
        offered.add(copy(container, kind.get() == TaskType.MAP ? MAP : REDUCE));
      } else if (idle.waited >= idleMillis || makesRoom || reducesFirst) {
        end(container.getId(), reducesFirst ? "reduces wait for its room" : "no task came");
      }
    }
    return offered;
  }

  // Its attempt, which never began, is not to blame (completedForReal) and runs elsewhere.
  private void releaseSilent() {
    for (ContainerId id : pool.silentlyGiven(SILENTLY_GIVEN_MILLIS)) {
      if (pendingRelease.add(id)) {
        LOG.info("Container {} is given back: its JVM has not fetched its task", id);
        super.release(id);
      }
    }
  }

  private static Container copy(Container container, Priority priority) {
    return Container.newInstance(container.getId(), container.getNodeId(),
        container.getNodeHttpAddress(), container.getResource(), priority,
        container.getContainerToken());
  }

  private void endWhere(AllocateResponse response) {
    for (NodeReport node : response.getUpdatedNodes()) {
      NodeState state = node.getNodeState();
      if (state.isUnusable() || state == NodeState.DECOMMISSIONING) {
        lost.add(node.getNodeId());
      } else {
        lost.remove(node.getNodeId());
      }
    }
    Set<ContainerId> claimed = Claims.of(response.getPreemptionMessage());
    for (WarmPool.Idle idle : pool.idle()) {
      ContainerId id = idle.container.getId();
      if (lost.contains(idle.container.getNodeId())) {
        end(id, "its node is no longer usable");
      } else if (claimed.contains(id)) {
        end(id, "YARN claims it");
      } else if (isNodeBlacklisted(idle.container.getNodeId().getHost())) {
        end(id, "too many attempts failed on its host");
      }
    }
    response.setPreemptionMessage(
        Claims.without(response.getPreemptionMessage(), pool::hasNoAttempt));
  }

  private void end(ContainerId id, String why) {
    LOG.info("Container {} is given back: {}", id, why);
    pool.end(id);
    pendingRelease.add(id);
    super.release(id);
  }

  /**
   * Returns what YARN has left for this job plus what its waiting containers hold: Hadoop decides
   * from this whether reduces must make room for maps.
   */
  @Override
  protected Resource getAvailableResources() {
    Resource available = Resources.clone(super.getAvailableResources());
    for (WarmPool.Idle idle : pool.idle()) {
      Resources.addTo(available, idle.container.getResource());
    }
    return available;
  }

  /**
   * Keeps a container that waits, unless it waited its time or its host is blacklisted; releases
   * any other.
   */
  @Override
  protected void release(ContainerId id) {
    Optional<WarmPool.Idle> waiting = pool.idle().stream()
        .filter(idle -> idle.container.getId().equals(id)).findFirst();
    if (waiting.isPresent() && waiting.get().waited < idleMillis
        && !isNodeBlacklisted(waiting.get().container.getNodeId().getHost())) {
      pendingRelease.remove(id);
      return;
    }
    pool.end(id);
    super.release(id);
  }
}
