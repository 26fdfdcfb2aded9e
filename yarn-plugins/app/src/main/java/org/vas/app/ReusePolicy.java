package org.vas.app;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;

/** Whether a job's containers may run several tasks. */
final class ReusePolicy {
  private static final List<String> KNOWN = List.of("org.apache.hadoop.", "org.vas.");
  // What names a class of the job.
  private static final List<String> CLASS_KEYS = List.of(
      MRJobConfig.MAP_CLASS_ATTR, MRJobConfig.REDUCE_CLASS_ATTR, MRJobConfig.COMBINE_CLASS_ATTR,
      MRJobConfig.PARTITIONER_CLASS_ATTR, MRJobConfig.INPUT_FORMAT_CLASS_ATTR,
      MRJobConfig.OUTPUT_FORMAT_CLASS_ATTR, MRJobConfig.MAP_OUTPUT_KEY_CLASS,
      MRJobConfig.MAP_OUTPUT_VALUE_CLASS, MRJobConfig.OUTPUT_KEY_CLASS,
      MRJobConfig.OUTPUT_VALUE_CLASS, MRJobConfig.KEY_COMPARATOR,
      MRJobConfig.GROUP_COMPARATOR_CLASS, MRJobConfig.COMBINER_GROUP_COMPARATOR_CLASS,
      MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR,
      "mapred.mapper.class", "mapred.reducer.class", "mapred.combiner.class",
      "mapred.partitioner.class", "mapred.input.format.class", "mapred.output.format.class",
      "mapred.output.committer.class", "mapred.map.runner.class");

  private ReusePolicy() {}

  /** Returns why a job's containers run one task each; empty when they may run several. */
  static Optional<String> refusal(Configuration job) {
    String word = ReuseConf.REUSE.get(job);
    if (word.equals("off")) {
      return Optional.of(ReuseConf.REUSE.name() + " is off");
    }
    if (job.getBoolean(MRJobConfig.JOB_UBERTASK_ENABLE, false)) {
      return Optional.of(MRJobConfig.JOB_UBERTASK_ENABLE + " is true");
    }
    if (job.getBoolean(MRJobConfig.MAPREDUCE_JOB_CLASSLOADER, false)) {
      return Optional.of(MRJobConfig.MAPREDUCE_JOB_CLASSLOADER
          + " is true, and each task would leave a class loader behind");
    }
    if (job.getBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, false)) {
      return Optional.of(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA + " is true");
    }
    if (job.getInt(MRJobConfig.MR_NUM_OPPORTUNISTIC_MAPS_PERCENT, 0) > 0) {
      return Optional.of(MRJobConfig.MR_NUM_OPPORTUNISTIC_MAPS_PERCENT + " is set");
    }
    return word.equals("on") ? Optional.empty() : unknownClass(job);
  }

  private static Optional<String> unknownClass(Configuration job) {
    for (String key : CLASS_KEYS) {
      String name = job.getTrimmed(key, "");
      if (!name.isEmpty() && KNOWN.stream().noneMatch(name::startsWith)) {
        return Optional.of(key + " is " + name + ", which may leave something behind; set "
            + ReuseConf.REUSE.name() + "=on if it does not (docs/warm.md)");
      }
    }
    return Optional.empty();
  }

  /** Returns whether a reduce's container is as a map's: resources, environment, JVM options. */
  static boolean reducesFitMaps(Configuration job) {
    return settings(job, "mapreduce.map.").equals(settings(job, "mapreduce.reduce."))
        && Objects.equals(job.get(MRJobConfig.MAP_NODE_LABEL_EXP),
            job.get(MRJobConfig.REDUCE_NODE_LABEL_EXP))
        && !job.getBoolean(MRJobConfig.TASK_PROFILE, false);
  }

  private static Map<String, String> settings(Configuration job, String prefix) {
    Map<String, String> settings = new TreeMap<>();
    for (String rest : List.of("java.opts", "env", "log.level", "memory.mb", "cpu.vcores")) {
      settings.put(rest, job.getTrimmed(prefix + rest, ""));
    }
    settings.putAll(job.getPropsWithPrefix(prefix + "env."));
    settings.putAll(job.getPropsWithPrefix(prefix + "resource."));
    return settings;
  }
}
