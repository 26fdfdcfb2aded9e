package org.vas.shuffle.reduce;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Notes which threads run code of the job. */
final class JobCode {
  private static final Set<Thread> THREADS = ConcurrentHashMap.newKeySet();

  private JobCode() {}

  /** Is called by each method of a job's class. */
  static void runs() {
    THREADS.add(Thread.currentThread());
  }

  /** The threads since this was asked last. */
  static Set<Thread> threads() {
    Set<Thread> seen = Set.copyOf(THREADS);
    THREADS.clear();
    return seen;
  }
}
