package org.vas.scheduler;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.vas.conf.ConfKey;
import org.vas.scheduler.policy.WaitLimits;

/** Keys of placement: which applications it serves, and how long tasks wait for their host. */
public interface PlacementConf {
  ConfKey<Boolean> ENABLED = ConfKey.flag("vas.placement.enabled", true,
      "Whether the ResourceManager places tasks on the VM that owns their split.");

  ConfKey<Duration> NODE_WAIT = ConfKey.duration("vas.placement.node-wait", "20s", "0s", "1h",
      "How long asks for a live node wait, before its HA partner may serve them: since the node"
          + " last ran a task of their job, or in sum while another node is idle, whichever is"
          + " longer. 0s: do not wait.");

  ConfKey<Duration> PARTNER_WAIT = ConfKey.duration("vas.placement.partner-wait", "5s", "0s", "1h",
      "How long after vas.placement.node-wait the HA partner alone may serve asks for a node,"
          + " before any node may.");

  ConfKey<Duration> SKEW_WAIT = ConfKey.duration("vas.placement.skew-wait", "1s", "0s", "1h",
      "What stands for vas.placement.node-wait, in time that another node is idle, while a node is"
          + " full and more than twice as many tasks wait for it as it runs of the job. As long as"
          + " node-wait or longer: such a node is waited for as any other.");

  ConfKey<String> APPLICATION_TYPES = ConfKey.text("vas.placement.application-types", "MAPREDUCE,SPARK",
      "The types of the applications that are placed, separated by commas.");

  ConfKey<String> OPT_OUT_TAG = ConfKey.text("vas.placement.opt-out-tag", "vas-placement-off",
      "An application with this tag is not placed (MapReduce: mapreduce.job.tags, Spark:"
          + " spark.yarn.tags).");

  ConfKey<String> LOG_DIRECTORY = ConfKey.text("vas.placement.log-directory", "",
      "Directory on the ResourceManager's machine for a file of decisions for each application,"
          + " USER/APPLICATION.log, which `vas job locality` reads below the mount; empty: none.");

  /** Returns the waits for a node, for its HA partner, and beside a node that is behind. */
  static WaitLimits waits(Configuration conf) {
    return new WaitLimits(NODE_WAIT.get(conf).toMillis(), PARTNER_WAIT.get(conf).toMillis(),
        SKEW_WAIT.get(conf).toMillis());
  }

  /**
   * Returns the directory of the applications' own files of decisions; empty for none.
   *
   * @throws IllegalArgumentException with one line for a path that is not absolute
   */
  static Optional<Path> logDirectory(Configuration conf) {
    String named = LOG_DIRECTORY.get(conf);
    if (!named.isEmpty() && !Path.of(named).isAbsolute()) {
      throw new IllegalArgumentException(
          LOG_DIRECTORY.name() + ": '" + named + "' is not an absolute path");
    }
    return Optional.of(named).filter(path -> !path.isEmpty()).map(Path::of);
  }

  /**
   * Returns the types of the applications that are placed.
   * @throws IllegalArgumentException that names the key, if it names no type
   */
  static Set<String> applicationTypes(Configuration conf) {
    Set<String> types = Stream.of(APPLICATION_TYPES.get(conf).split(","))
        .map(String::trim)
        .filter(type -> !type.isEmpty())
        .collect(Collectors.toUnmodifiableSet());
    if (types.isEmpty()) {
      throw new IllegalArgumentException(
          APPLICATION_TYPES.name() + ": names no type; write one, such as MAPREDUCE");
    }
    return types;
  }
}
