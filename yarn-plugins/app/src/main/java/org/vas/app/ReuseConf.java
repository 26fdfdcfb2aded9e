package org.vas.app;

import java.time.Duration;
import java.util.List;
import org.vas.conf.ConfKey;

/** The configuration keys of containers that run several tasks; all of them belong to the job. */
public interface ReuseConf {
  ConfKey<String> REUSE = ConfKey.choice("vas.containers.reuse", "auto",
      List.of("auto", "on", "off"),
      "Whether a container whose task is done runs another task of the job. It needs the job's"
          + " master to be org.vas.app.VasAppMaster, which the last word of"
          + " yarn.app.mapreduce.am.command-opts names. auto: only where every class that the job"
          + " names is Hadoop's or VAS's, of a jar that the nodes have. on: the job says that its"
          + " classes leave nothing behind (docs/warm.md). off: each task has a JVM of its own, as in stock MapReduce.");

  ConfKey<Integer> MAX_TASKS = ConfKey.integer("vas.containers.reuse.max-tasks", 100, 1, 100000,
      "Tasks that one container runs at most.");

  ConfKey<Duration> MAX_TIME = ConfKey.duration("vas.containers.reuse.max-time", "2m", "0ms", "365d",
      "Age from which on the application master gives a container no other task but returns it to"
          + " YARN, which decides anew which job gets its room.");

  ConfKey<Duration> IDLE_TIME = ConfKey.duration("vas.containers.reuse.idle-time", "3s", "0ms", "10m",
      "How long a container may wait for a task before it is given back.");

  ConfKey<Duration> LOCALITY_DELAY = ConfKey.duration("vas.containers.reuse.locality-delay", "500ms",
      "0ms", "10m",
      "How long a waiting container takes only map tasks that have their data on its host. After"
          + " that it takes those of its rack, and after twice that any.");
}
