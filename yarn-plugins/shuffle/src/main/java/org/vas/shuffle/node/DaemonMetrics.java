package org.vas.shuffle.node;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsInfo;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;

/**
 * The metrics2 source {@code VasShuffled}, also in JMX: the numbers that {@code vas-shuffled} tells
 * when it is asked to count. Counters go on where those of a process that ended have stopped.
 */
final class DaemonMetrics implements MetricsSource {
  static final String NAME = "VasShuffled";
  private static final String COUNTER = "_total";
  private static final int MOST_NUMBERS = 64;
  private static final Pattern PAIR = Pattern.compile("([a-z][a-z_]{0,40})=([0-9]{1,18})");

  // The numbers of the process that runs, and the counters of those before it.
  private final Map<String, Long> now = new LinkedHashMap<>();
  private final Map<String, Long> before = new LinkedHashMap<>();

  /** Registers the source; one that an earlier life of this NodeManager left is replaced. */
  static DaemonMetrics register() {
    MetricsSystem metrics = DefaultMetricsSystem.instance();
    metrics.unregisterSource(NAME);
    return metrics.register(NAME, "Map output by vas-shuffled", new DaemonMetrics());
  }

  /** Takes over the numbers of a line {@code NAME=NUMBER ...}; other words of it are left out. */
  synchronized void told(String line) {
    for (String word : line.split(" ", MOST_NUMBERS)) {
      Matcher pair = PAIR.matcher(word);
      if (pair.matches()) {
        now.put(pair.group(1), Long.parseLong(pair.group(2)));
      }
    }
  }

  /** Notes that the process has ended: its counters stay, and its other numbers are gone. */
  synchronized void ended() {
    now.forEach((name, number) -> {
      if (name.endsWith(COUNTER)) {
        before.merge(name, number, Long::sum);
      }
    });
    now.clear();
  }

  @Override
  public synchronized void getMetrics(MetricsCollector collector, boolean all) {
    MetricsRecordBuilder record = collector.addRecord(NAME);
    Stream.concat(before.keySet().stream(), now.keySet().stream()).distinct().forEach(name -> {
      long number = before.getOrDefault(name, 0L) + now.getOrDefault(name, 0L);
      if (name.endsWith(COUNTER)) {
        record.addCounter(info(name.substring(0, name.length() - COUNTER.length())), number);
      } else {
        record.addGauge(info(name), number);
      }
    });
  }

  private static MetricsInfo info(String name) {
    String camel = Stream.of(name.split("_"))
        .map(word -> Character.toUpperCase(word.charAt(0)) + word.substring(1))
        .collect(Collectors.joining());
    return Interns.info(camel, "vas_shuffled_" + name + " of vas-shuffled");
  }
}
