package org.vas.workloads.fetch;

import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.TaskCounter;

/**
 * Stands in for an application master whose maps all succeeded on one node; keeps the last
 * counters.
 */
final class AllMapsDone {
  private final TaskCompletionEvent[] events;
  private volatile Counters counters = new Counters();

  /**
   * Makes the master of a job whose maps all succeeded.
   * @param url the address of the maps' node as its completion events have it
   */
  AllMapsDone(int maps, String url) {
    events = new TaskCompletionEvent[maps];
    for (int map = 0; map < maps; map++) {
      events[map] = new TaskCompletionEvent(
          map, MadeJob.map(map), map, true, TaskCompletionEvent.Status.SUCCEEDED, url);
    }
  }

  long of(TaskCounter counter) {
    return counters.findCounter(counter).getValue();
  }

  TaskUmbilicalProtocol protocol() {
    return (TaskUmbilicalProtocol) Proxy.newProxyInstance(getClass().getClassLoader(),
        new Class<?>[] {TaskUmbilicalProtocol.class}, (proxy, method, arguments) -> {
          switch (method.getName()) {
            case "getMapCompletionEvents":
              return events((int) arguments[1], (int) arguments[2]);
            case "statusUpdate":
              return report((TaskStatus) arguments[1]);
            default:
              return method.getReturnType() == boolean.class ? Boolean.TRUE : null;
          }
        });
  }

  private MapTaskCompletionEventsUpdate events(int from, int most) {
    int end = (int) Math.min(events.length, (long) from + most);
    return new MapTaskCompletionEventsUpdate(
        Arrays.copyOfRange(events, Math.min(from, end), end), false);
  }

  private AMFeedback report(TaskStatus status) {
    if (status != null && status.getCounters() != null) {
      counters = status.getCounters();
    }
    AMFeedback feedback = new AMFeedback();
    feedback.setTaskFound(true);
    return feedback;
  }
}
