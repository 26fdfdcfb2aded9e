package org.vas.shuffle.report;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** The numbers of a reduce task at one moment, and the line of text that carries them. */
public final class TaskReads {
  /** Bytes of the longest line with its end: six numbers of at most 19 digits. */
  public static final int LONGEST_LINE = 6 * 20;

  /** The numbers of a task that has read nothing. */
  public static final TaskReads NONE = new TaskReads(new long[TaskRead.values().length]);

  private final long[] values;

  private TaskReads(long[] values) {
    this.values = values;
  }

  /** Returns these numbers, in the order of {@link TaskRead}. Throws IllegalArgumentException. */
  public static TaskReads of(long... values) {
    if (values.length != TaskRead.values().length || Arrays.stream(values).anyMatch(v -> v < 0)) {
      throw new IllegalArgumentException("not the numbers of a task: " + Arrays.toString(values));
    }
    return new TaskReads(values.clone());
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
    return Arrays.stream(values).mapToObj(Long::toString).collect(Collectors.joining(" ", "", "\n"));
  }

  /** Returns one of the numbers. */
  public long get(TaskRead read) {
    return values[read.ordinal()];
  }

  /** Returns whether these numbers can follow others of the same task: no counter has fallen. */
  public boolean canFollow(TaskReads earlier) {
    return Arrays.stream(TaskRead.values())
        .allMatch(read -> !read.isCounter() || get(read) >= earlier.get(read));
  }

  /** Returns counters as far as they have grown since, and the rest as it is. */
  public TaskReads since(TaskReads earlier) {
    return new TaskReads(Arrays.stream(TaskRead.values())
        .mapToLong(read -> read.isCounter() ? get(read) - earlier.get(read) : get(read)).toArray());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TaskReads && Arrays.equals(values, ((TaskReads) other).values);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(values);
  }

  @Override
  public String toString() {
    return line().strip();
  }
}
