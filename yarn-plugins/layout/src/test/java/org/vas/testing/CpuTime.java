package org.vas.testing;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Callable;

/**
 * Measures the CPU time of a piece of work in this thread, whatever else the machine does
 * meanwhile.
 */
public final class CpuTime {
  private static final int TRIES = 5;

  private CpuTime() {}

  /** The CPU milliseconds of the quickest of a few tries: the first ones load classes. */
  public static double millisOf(Callable<?> work) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long quickest = Long.MAX_VALUE;
    for (int i = 0; i < TRIES; i++) {
      long started = threads.getCurrentThreadCpuTime();
      work.call();
      quickest = Math.min(quickest, threads.getCurrentThreadCpuTime() - started);
    }
    return quickest / 1e6;
  }
}
