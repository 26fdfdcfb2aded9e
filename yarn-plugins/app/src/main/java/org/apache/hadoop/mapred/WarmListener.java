package org.apache.hadoop.mapred;

import java.io.IOException;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.mapreduce.security.token.JobTokenSecretManager;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitIndex;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.event.JobCounterUpdateEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.RMHeartbeatHandler;
import org.apache.hadoop.mapreduce.v2.app.rm.preemption.AMPreemptionPolicy;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;
import org.vas.app.ContainerCounter;
import org.vas.app.WarmPool;

/**
 * The server of the tasks' calls, which also answers JVMs that ask whether there is another task.
 * It is in Hadoop's package because only that can read a {@link JvmContext}.
 */
public final class WarmListener extends TaskAttemptListenerImpl {
  /** Replaces the process ID in the call of a JVM that has had a task and asks for another. */
  static final String ASKS_FOR_MORE = "another";

  /** Replaces the process ID in the call of a JVM that ends; a {@link ContainerCounter} follows. */
  static final String IS_UNFIT = "unfit ";

  private static final byte[] NO_KEY = {0};

  @SuppressWarnings("rawtypes") // Hadoop's event handlers are
  private final EventHandler<Event> events;

  private final WarmPool pool;

  public WarmListener(AppContext context, JobTokenSecretManager tokens, RMHeartbeatHandler heartbeat,
      AMPreemptionPolicy preemption, WarmPool pool) {
    super(context, tokens, heartbeat, preemption, NO_KEY);
    this.events = context.getEventHandler();
    this.pool = pool;
  }

  @Override
  public void registerLaunchedTask(TaskAttemptId attempt, WrappedJvmID jvm) {
    super.registerLaunchedTask(attempt, jvm);
    pool.launched(attempt);
  }

  @Override
  public void done(TaskAttemptID attempt) throws IOException {
    super.done(attempt);
    pool.done(TypeConverter.toYarn(attempt));
  }

  /**
   * Returns the task of a JVM. One that asks for more gets null to wait, an order to end, or a task
   * that is nothing but its name, which it then fetches as a JVM that was just started does.
   */
  @Override
  public JvmTask getTask(JvmContext context) throws IOException {
    long jvm = context.jvmId.getId();
    if (context.pid.equals(ASKS_FOR_MORE)) {
      return answer(pool.ask(jvm), jvm);
    }
    if (context.pid.startsWith(IS_UNFIT)) {
      count(context);
      return new JvmTask(null, true);
    }
    boolean isMap = pool.runsMap(jvm).orElse(context.jvmId.isMap);
    JVMId asked = new JVMId(context.jvmId.getJobId(), isMap, jvm);
    JvmTask task = super.getTask(new JvmContext(asked, context.pid));
    if (task != null) {
      pool.fetched(jvm);
    }
    return task;
  }

  private void count(JvmContext context) {
    String name = context.pid.substring(IS_UNFIT.length());
    for (ContainerCounter counter : ContainerCounter.values()) {
      if (counter.name().equals(name)) {
        JobCounterUpdateEvent update =
            new JobCounterUpdateEvent(TypeConverter.toYarn(context.jvmId.getJobId()));
        update.addCounterUpdate(counter, 1);
        events.handle(update);
      }
    }
  }

  private JvmTask answer(WarmPool.Answer answer, long jvm) {
    switch (answer) {
      case WAIT:
        return null;
      case FETCH:
        return new JvmTask(named(pool.attemptOf(jvm)), false);
      default:
        return new JvmTask(null, true);
    }
  }

  // A task that is nothing but its name: the JVM opens its logs, and then fetches the whole task.
  private static Task named(TaskAttemptId attempt) {
    Task task = new MapTask("", TypeConverter.fromYarn(attempt), 0, new TaskSplitIndex(), 1);
    task.setUser("");
    return task;
  }
}
