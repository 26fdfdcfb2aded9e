package org.vas.app;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;

/** Decides whether a job's containers may run several tasks. */
final class ReusePolicy {
  // Hadoop's own; those of Hive and HBase begin with org.apache.hadoop too.
  private static final Pattern KNOWN = Pattern.compile("org\\.vas\\..*|org\\.apache\\.hadoop\\."
      + "(conf|crypto|examples|fs|hdfs|http|io|ipc|mapred|mapreduce|metrics2|net|registry"
      + "|security|tools|util|yarn)\\..*");
  // What names classes: also those that a chain of mappers or several inputs delegate to.
  private static final Pattern KEYS = Pattern.compile("(?i).*(class(?!path|loader)|codec|serializations"
      + "|multipleinputs\\.dir\\.(mappers|formats)|namedoutput|aggregat\\w*\\.descriptor|join\\.expr"
      + ").*");
  private static final Pattern CLASS_NAME = Pattern.compile("[A-Za-z_]\\w*(\\.[A-Za-z_$][\\w$]*)+");
  // A class without a package has no dot: in these keys any word is a class.
  private static final Pattern ONLY_CLASSES = Pattern.compile(
      "(?i)(mapred|mapreduce)\\..*(class(\\.\\d+)?|mappers|formats|namedoutput\\..*"
      + "\\.(format|key|value))|.*\\.(codecs|serializations)");
  private static final Pattern WORD = Pattern.compile("(?<=^|[,;\\s])[A-Za-z_$][\\w$]*(?=$|[,;\\s])");

  // The master replaces parts of Hadoop's: with those of another release it was never run.
  private static final Pattern KNOWN_HADOOP = Pattern.compile("3\\.5\\..*");

  private ReusePolicy() {}

  /** Returns why no job's containers run several tasks with a version of Hadoop; empty if they may. */
  static Optional<String> unknownHadoop(String version) {
    return KNOWN_HADOOP.matcher(version).matches() ? Optional.empty()
        : Optional.of("Hadoop " + version + " is not known to VasAppMaster, which knows 3.5");
  }

  /**
   * Returns why a job's containers run one task each; empty when they may run several.
   *
   * @param installed where the job's classes come from: those of Hadoop's packages are Hadoop's
   *     only if the nodes have them
   * @throws IllegalArgumentException if {@code vas.containers.reuse} has none of its values
   * @throws IOException if a jar of the job cannot be read
   */
  static Optional<String> refusal(Configuration job, InstalledClasses installed)
      throws IOException {
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
    if (job.getBoolean(MRJobConfig.TASK_PROFILE, false)) {
      return Optional.of(MRJobConfig.TASK_PROFILE
          + " is true, and the JVM of a task that is profiled must run no other");
    }
    if (job.getBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, false)) {
      return Optional.of(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA + " is true");
    }
    if (job.getInt(MRJobConfig.MR_NUM_OPPORTUNISTIC_MAPS_PERCENT, 0) > 0) {
      return Optional.of(MRJobConfig.MR_NUM_OPPORTUNISTIC_MAPS_PERCENT + " is set");
    }
    return word.equals("on") ? Optional.empty() : unknownClass(job, installed);
  }

  private static Optional<String> unknownClass(Configuration job, InstalledClasses installed)
      throws IOException {
    for (Map.Entry<String, String> entry : job) {
      String key = entry.getKey();
      if (KEYS.matcher(key).matches()) {
        String value = job.get(key, "");
        Optional<String> name = unknown(CLASS_NAME, value, installed);
        if (name.isEmpty() && ONLY_CLASSES.matcher(key).matches()) {
          name = unknown(WORD, value, installed);
        }
        if (name.isPresent()) {
          return Optional.of(key + " names " + name.get() + ", which may leave something behind;"
              + " set " + ReuseConf.REUSE.name() + "=on if it does not (docs/warm.md)");
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<String> unknown(Pattern names, String value, InstalledClasses installed)
      throws IOException {
    Matcher found = names.matcher(value);
    while (found.find()) {
      String name = found.group();
      if (!KNOWN.matcher(name).matches()) {
        return Optional.of(name);
      }
      if (installed.isReplaced(name)) {
        return Optional.of(name + " of the job's own files, not of the nodes'");
      }
    }
    return Optional.empty();
  }

  /**
   * Returns whether reduces have containers like maps': resources, environment, JVM options, node
   * label.
   */
  static boolean reducesFitMaps(Configuration job) {
    return settings(job, "map").equals(settings(job, "reduce"))
        && Objects.equals(job.get(MRJobConfig.MAP_NODE_LABEL_EXP),
            job.get(MRJobConfig.REDUCE_NODE_LABEL_EXP));
  }

  private static Map<String, String> settings(Configuration job, String kind) {
    Map<String, String> settings = new TreeMap<>();
    for (String part : List.of("java.opts", "env", "log.level", "memory.mb", "cpu.vcores")) {
      settings.put(part, job.getTrimmed("mapreduce." + kind + "." + part, ""));
    }
    for (String part : List.of("env.", "resource.")) {
      job.getPropsWithPrefix("mapreduce." + kind + "." + part)
          .forEach((key, value) -> settings.put(part + key, value));
    }
    settings.put("admin options",
        job.getTrimmed("mapreduce.admin." + kind + ".child.java.opts", ""));
    return settings;
  }
}
