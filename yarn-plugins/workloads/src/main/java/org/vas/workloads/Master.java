package org.vas.workloads;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;

/**
 * Stands in for an application master: says which maps succeeded, lets all tasks commit, and adds
 * up counters.
 */
final class Master {
  final Counted maps = new Counted();
  final Counted reduces = new Counted();
  private final List<TaskCompletionEvent> events = new ArrayList<>();

  void succeeded(TaskAttemptID map) {
    events.add(new TaskCompletionEvent(events.size(), map, map.getTaskID().getId(), true,
        TaskCompletionEvent.Status.SUCCEEDED, "http://here:0"));
  }

  TaskUmbilicalProtocol protocol(Counted counted) {
    return (TaskUmbilicalProtocol) Proxy.newProxyInstance(getClass().getClassLoader(),
        new Class<?>[] {TaskUmbilicalProtocol.class}, (proxy, method, arguments) -> {
          switch (method.getName()) {
            case "getMapCompletionEvents":
              return events((int) arguments[1], (int) arguments[2]);
            case "statusUpdate":
              return report((TaskStatus) arguments[1], counted);
            default:
              return method.getReturnType() == boolean.class ? Boolean.TRUE : null;
          }
        });
  }

  private MapTaskCompletionEventsUpdate events(int from, int most) {
    List<TaskCompletionEvent> part = events.subList(from, Math.min(events.size(), from + most));
    return new MapTaskCompletionEventsUpdate(part.toArray(new TaskCompletionEvent[0]), false);
  }

  private static AMFeedback report(TaskStatus status, Counted counted) {
    if (status != null && status.getCounters() != null) {
      counted.report(status.getCounters());
    }
    AMFeedback feedback = new AMFeedback();
    feedback.setTaskFound(true);
    return feedback;
  }
}
