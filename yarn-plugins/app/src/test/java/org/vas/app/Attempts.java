package org.vas.app;

import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;

/** Makes attempts and containers of one job. */
final class Attempts {
  private static final ApplicationId APPLICATION = ApplicationId.newInstance(1700000000000L, 1);
  static final ApplicationAttemptId MASTER = ApplicationAttemptId.newInstance(APPLICATION, 1);

  private Attempts() {}

  static TaskAttemptId attempt(TaskType type, int task) {
    return MRBuilderUtils.newTaskAttemptId(MRBuilderUtils.newTaskId(
        MRBuilderUtils.newJobId(APPLICATION, 1), task, type), 0);
  }

  static TaskAttemptId map(int task) {
    return attempt(TaskType.MAP, task);
  }

  static Container container(int number, String host) {
    ContainerId id =
        ContainerId.newContainerId(MASTER, number);
    return Container.newInstance(id, NodeId.newInstance(host, 8041), host + ":8042",
        Resource.newInstance(512, 1), Priority.newInstance(20), null);
  }
}
