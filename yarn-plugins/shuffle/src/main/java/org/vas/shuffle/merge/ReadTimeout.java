package org.vas.shuffle.merge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.time.Duration;
import org.apache.hadoop.fs.Path;

/**
 * The longest time that a call which reads map output may take: {@code vas.shuffle.read-timeout}.
 */
public final class ReadTimeout {
  private final Duration limit;

  /** Makes a timeout of this length. */
  public ReadTimeout(Duration limit) {
    this.limit = requireNonNull(limit, "limit");
  }

  /** Returns how often calls are looked at, in milliseconds: four times within the limit. */
  public long tick() {
    return Math.max(10, Math.min(1000, limit.toMillis() / 4));
  }

  /**
   * Checks a call that runs.
   *
   * @param began when it began, as {@link System#nanoTime} counts
   * @param now the same clock's time now
   * @throws IOException if the call takes longer than it may
   */
  public void check(Path file, long began, long now) throws IOException {
    if (now - began > limit.toNanos()) {
      throw new IOException(file + ": no answer for " + limit.toMillis()
          + " ms (vas.shuffle.read-timeout)");
    }
  }
}
