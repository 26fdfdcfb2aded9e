package org.vas.shuffle.model;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;
import org.vas.shuffle.map.Emitter;

/**
 * Makes the records that maps emit: for each map always the same keys, and values that name the
 * attempt, so that a mixture of two attempts is seen.
 */
final class Records {
  static final String ID = "test.id";
  private static final Map<String, List<String>> SEEN = new ConcurrentHashMap<>();
  private static final int SMALL = 40;
  private static final int LARGE = 24;
  private static final int LARGE_BYTES = 100 << 10;

  private final boolean large;

  Records(boolean large) {
    this.large = large;
  }

  /** Emits all of an attempt, or throws half way. */
  Emitter.Script script(TaskAttemptID attempt, boolean throwing) {
    return output -> {
      List<String> keys = keys(attempt);
      for (int i = 0; i < keys.size(); i++) {
        if (throwing && i >= keys.size() / 2) {
          throw new IllegalStateException("the mapper's own");
        }
        output.emit(new Text(keys.get(i)), new Text(value(attempt, i)));
      }
    };
  }

  /** The input of a reduce, when these attempts' outputs are taken. */
  List<String> input(Collection<TaskAttemptID> attempts, int partition, int reducers) {
    List<String[]> all = new ArrayList<>();
    HashPartitioner<Text, Text> partitioner = new HashPartitioner<>();
    attempts.stream().sorted(Comparator.comparing(TaskAttemptID::getTaskID)).forEach(attempt -> {
      List<String> keys = keys(attempt);
      for (int i = 0; i < keys.size(); i++) {
        if (partitioner.getPartition(new Text(keys.get(i)), null, reducers) == partition) {
          all.add(new String[] {keys.get(i), line(keys.get(i), value(attempt, i))});
        }
      }
    });
    all.sort(Comparator.comparing(each -> each[0]));
    return all.stream().map(each -> each[1]).collect(Collectors.toList());
  }

  // Map 2 of a small job emits nothing.
  private List<String> keys(TaskAttemptID attempt) {
    Random random = new Random(attempt.getTaskID().getId());
    int count = large ? LARGE : attempt.getTaskID().getId() == 2 ? 0 : SMALL;
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      keys.add("k" + (100 + random.nextInt(20)));
    }
    return keys;
  }

  private String value(TaskAttemptID attempt, int index) {
    String name = attempt + "|" + index + "|";
    return large ? name + "x".repeat(LARGE_BYTES) : name;
  }

  private static String line(String key, String value) {
    return key + "=" + value.substring(0, value.lastIndexOf('|')) + "#" + value.hashCode();
  }

  /** The attempt that a line is from. */
  static TaskAttemptID attempt(String line) {
    return TaskAttemptID.forName(line.substring(line.indexOf('=') + 1, line.indexOf('|')));
  }

  static List<String> take(String id) {
    List<String> seen = SEEN.remove(id);
    return seen == null ? List.of() : List.copyOf(seen);
  }

  /** Notes each record that it gets. */
  public static final class Noting extends Reducer<Text, Text, NullWritable, NullWritable> {
    @Override
    protected void reduce(Text key, Iterable<Text> values, Context context) {
      List<String> seen = SEEN.computeIfAbsent(
          context.getConfiguration().get(ID), id -> new CopyOnWriteArrayList<>());
      for (Text value : values) {
        seen.add(line(key.toString(), value.toString()));
      }
    }
  }
}
