package org.vas.shuffle.report;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The numbers of a reduce task at one moment, and the line of text that carries them. */
public final class TaskReads {
  /** Bytes of the longest line with its end: six numbers of at most 19 digits. */
  public static final int LONGEST_LINE = 6 * 20;

  /** The numbers of a task that has read nothing. */
  public static final TaskReads NONE = of(0, 0, 0, 0, 0, 0);

  private final Map<TaskRead, Long> values;

  private TaskReads(Map<TaskRead, Long> values) {
    this.values = values;
  }

  /**
   * Returns these numbers, in the order of {@link TaskRead}.
   *
   * @throws IllegalArgumentException if they are more or fewer than six, or one is negative
   */
  public static TaskReads of(long... values) {
    TaskRead[] reads = TaskRead.values();
    if (values.length != reads.length || Arrays.stream(values).anyMatch(v -> v < 0)) {
      throw new IllegalArgumentException("not the numbers of a task: " + Arrays.toString(values));
    }
    Map<TaskRead, Long> found = new EnumMap<>(TaskRead.class);
    for (int place = 0; place < reads.length; place++) {
      found.put(reads[place], values[place]);
    }
    return new TaskReads(found);
  }

  /** Returns the numbers of a line without its end; empty for any other text. */
  public static Optional<TaskReads> parse(String line) {
    String[] words = line.split(" ", -1);
    if (words.length != TaskRead.values().length) {
      return Optional.empty();
    }
    try {
      return Optional.of(of(Arrays.stream(words).mapToLong(Long::parseLong).toArray()));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Returns the line that carries these numbers, with its end. */
  public String line() {
    return values.values().stream().map(String::valueOf).collect(Collectors.joining(" ", "", "\n"));
  }

  /** Returns one of the numbers. */
  public long get(TaskRead read) {
    return values.get(read);
  }

  /** Returns whether these numbers can follow others of the same task: no counter has fallen. */
  public boolean canFollow(TaskReads earlier) {
    return values.keySet().stream()
        .allMatch(read -> !read.isCounter() || get(read) >= earlier.get(read));
  }

  /** Returns these numbers, each counter less its earlier value, the others as they are. */
  public TaskReads since(TaskReads earlier) {
    Map<TaskRead, Long> growth = new EnumMap<>(values);
    growth.replaceAll((read, value) -> read.isCounter() ? value - earlier.get(read) : value);
    return new TaskReads(growth);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TaskReads && values.equals(((TaskReads) other).values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  @Override
  public String toString() {
    return line().strip();
  }
}
