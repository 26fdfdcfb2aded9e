package org.vas.app;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.MRAppMaster;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.event.JobCounterUpdateEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptContainerAssignedEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;

/**
 * A ResourceManager that gives the answers a test writes; keeps the events that the allocator
 * sends.
 */
final class AnsweringYarn implements ApplicationMasterProtocol {
  /** The answer to the next heartbeat; an empty one after that. */
  AllocateResponse next;

  /** The room that empty answers tell of. */
  Resource room = Resource.newInstance(0, 0);

  /** The number of the job's maps that are done. */
  int completedMaps;

  private final Set<ContainerId> released = new HashSet<>();
  private final List<Event<?>> events = new ArrayList<>();

  AnsweringYarn() {
    next = empty();
  }

  void beat(DrivenAllocator allocator) throws Exception {
    allocator.beat();
  }

  synchronized Set<ContainerId> released() {
    return Set.copyOf(released);
  }

  synchronized int events() {
    return events.size();
  }

  boolean isAssigned(TaskAttemptId attempt) {
    return sent(TaskAttemptContainerAssignedEvent.class)
        .anyMatch(event -> event.getTaskAttemptID().equals(attempt));
  }

  ContainerId assigned(TaskAttemptId attempt) {
    return sent(TaskAttemptContainerAssignedEvent.class)
        .filter(event -> event.getTaskAttemptID().equals(attempt))
        .findFirst().orElseThrow().getContainer().getId();
  }

  boolean has(TaskAttemptId attempt, TaskAttemptEventType type) {
    return sent(TaskAttemptEvent.class).anyMatch(
        event -> event.getTaskAttemptID().equals(attempt) && event.getType() == type);
  }

  long counted(ContainerCounter counter) {
    return sent(JobCounterUpdateEvent.class)
        .flatMap(event -> event.getCounterUpdates().stream())
        .filter(update -> update.getCounterKey() == counter)
        .mapToLong(JobCounterUpdateEvent.CounterIncrementalUpdate::getIncrementValue).sum();
  }

  private synchronized <T> Stream<T> sent(Class<T> type) {
    return events.stream().filter(type::isInstance).map(type::cast)
        .collect(Collectors.toList()).stream();
  }

  private synchronized void sent(Event<?> event) {
    events.add(event);
  }

  @Override
  public synchronized AllocateResponse allocate(AllocateRequest request) {
    released.addAll(request.getReleaseList());
    AllocateResponse answer = next;
    next = empty();
    return answer;
  }

  @Override
  public RegisterApplicationMasterResponse registerApplicationMaster(
      RegisterApplicationMasterRequest request) {
    return RegisterApplicationMasterResponse.newInstance(Resource.newInstance(512, 1),
        Resource.newInstance(4096, 4), Map.of(), null, List.of(), "default", List.of());
  }

  @Override
  public FinishApplicationMasterResponse finishApplicationMaster(
      FinishApplicationMasterRequest request) {
    return FinishApplicationMasterResponse.newInstance(true);
  }

  /** Returns the context of a master that runs one job, and whose events come here. */
  AppContext context() {
    MRAppMaster master = new MRAppMaster(Attempts.MASTER, Attempts.container(1, "vm1").getId(),
        "vm1", 8041, 8042, 0);
    return new Context(master, this::sent);
  }

  // Hadoop's allocator takes its context for the running master's, as it is.
  @SuppressWarnings("rawtypes") // Hadoop's event handlers are
  private final class Context extends MRAppMaster.RunningAppContext {
    private final EventHandler<Event> events;

    Context(MRAppMaster master, Consumer<Event<?>> events) {
      master.super(new Configuration(false), null);
      this.events = events::accept;
    }

    @Override
    public EventHandler<Event> getEventHandler() {
      return events;
    }

    @Override
    public Job getJob(JobId id) {
      return ten();
    }
  }

  // A job of ten maps and ten reduces.
  private Job ten() {
    Map<String, Object> answers = Map.of("getTotalMaps", 10, "getTotalReduces", 10,
        "getCompletedMaps", completedMaps, "getCompletedReduces", 0, "getProgress", 0f);
    return (Job) Proxy.newProxyInstance(Job.class.getClassLoader(), new Class<?>[] {Job.class},
        (proxy, method, arguments) -> answers.get(method.getName()));
  }

  private AllocateResponse empty() {
    return AllocateResponse.newBuilder()
        .updatedNodes(new ArrayList<>())
        .completedContainersStatuses(new ArrayList<>())
        .allocatedContainers(new ArrayList<>())
        .availableResources(room)
        .numClusterNodes(4)
        .build();
  }
}
