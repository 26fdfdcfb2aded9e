package org.vas.app;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptContainerLaunchedEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptDiagnosticsUpdateEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptKillEvent;
import org.apache.hadoop.mapreduce.v2.app.launcher.ContainerLauncher.EventType;
import org.apache.hadoop.mapreduce.v2.app.launcher.ContainerLauncherEvent;
import org.apache.hadoop.mapreduce.v2.app.launcher.ContainerLauncherImpl;
import org.apache.hadoop.mapreduce.v2.app.launcher.ContainerRemoteLaunchEvent;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hadoop's launcher, which starts each container once, with a child that asks for more tasks. For a
 * container whose JVM runs already it only reports the launch. It knows a container by its first
 * attempt, and so passes news of the container's end on to the latest one.
 */
@SuppressWarnings("rawtypes") // Hadoop's event handlers are
final class WarmLauncher extends ContainerLauncherImpl {
  private static final Logger LOG = LoggerFactory.getLogger(WarmLauncher.class);
  private static final String STOCK_CHILD = " org.apache.hadoop.mapred.YarnChild ";
  private static final String OUR_CHILD = " org.apache.hadoop.mapred.VasChild ";

  private final EventHandler<Event> events;
  private final WarmPool pool;

  WarmLauncher(AppContext context, WarmPool pool) {
    super(watched(context, pool));
    this.events = context.getEventHandler();
    this.pool = pool;
  }

  @Override
  public void handle(ContainerLauncherEvent event) {
    ContainerId id = event.getContainerID();
    TaskAttemptId attempt = event.getTaskAttemptID();
    if (event.getType() == EventType.CONTAINER_REMOTE_LAUNCH && pool.isWarm(id)) {
      LOG.info("{} runs in {}, whose JVM waits", attempt, id);
      events.handle(new TaskAttemptContainerLaunchedEvent(attempt, pool.shufflePort(id)));
    } else if (event.getType() == EventType.CONTAINER_REMOTE_LAUNCH && pool.isOver(id)) {
      events.handle(new TaskAttemptKillEvent(
          attempt, id + " ended while it waited; YARN gives another"));
    } else if (event.getType() == EventType.CONTAINER_REMOTE_LAUNCH) {
      exchangeChild((ContainerRemoteLaunchEvent) event);
      super.handle(event);
    } else if (event.getType() == EventType.CONTAINER_COMPLETED && pool.holds(id)) {
      LOG.debug("{} is over, and its container {} goes on", attempt, id);
    } else if (event.getType() == EventType.CONTAINER_REMOTE_CLEANUP
        && pool.holds(id) && !pool.stop(id, attempt)) {
      events.handle(new TaskAttemptEvent(attempt, TaskAttemptEventType.TA_CONTAINER_CLEANED));
    } else {
      super.handle(event);
    }
  }

  private static void exchangeChild(ContainerRemoteLaunchEvent event) {
    List<String> commands = new ArrayList<>();
    for (String command : event.getContainerLaunchContext().getCommands()) {
      commands.add(command.replace(STOCK_CHILD, OUR_CHILD));
    }
    event.getContainerLaunchContext().setCommands(commands);
  }

  /** Returns the context with an event handler that tells the pool, and names latest attempts. */
  private static AppContext watched(AppContext context, WarmPool pool) {
    EventHandler<Event> dispatcher = context.getEventHandler();
    EventHandler<Event> handler = event -> dispatcher.handle(translate(event, pool));
    return (AppContext) Proxy.newProxyInstance(AppContext.class.getClassLoader(),
        new Class<?>[] {AppContext.class}, (proxy, method, arguments) -> {
          if (method.getName().equals("getEventHandler")) {
            return handler;
          }
          try {
            return method.invoke(context, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  private static Event<?> translate(Event<?> event, WarmPool pool) {
    if (event instanceof TaskAttemptContainerLaunchedEvent) {
      TaskAttemptContainerLaunchedEvent launched = (TaskAttemptContainerLaunchedEvent) event;
      pool.started(launched.getTaskAttemptID(), launched.getShufflePort());
    } else if (event.getType() == TaskAttemptEventType.TA_CONTAINER_CLEANED) {
      TaskAttemptId latest = pool.latestOf(((TaskAttemptEvent) event).getTaskAttemptID());
      return new TaskAttemptEvent(latest, TaskAttemptEventType.TA_CONTAINER_CLEANED);
    } else if (event instanceof TaskAttemptDiagnosticsUpdateEvent) {
      TaskAttemptDiagnosticsUpdateEvent said = (TaskAttemptDiagnosticsUpdateEvent) event;
      return new TaskAttemptDiagnosticsUpdateEvent(
          pool.latestOf(said.getTaskAttemptID()), said.getDiagnosticInfo());
    }
    return event;
  }
}
