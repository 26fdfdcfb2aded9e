package org.apache.hadoop.util;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the shutdown hooks that a task adds, and removes those of its logs. {@link
 * ShutdownHookManager} lists its hooks only to its own package; nobody can list hooks that a task
 * gives to {@link Runtime#addShutdownHook}.
 */
public final class TaskHooks {
  // Each task adds one that stops the thread which flushes its logs, and stops that thread itself.
  private static final String LOG_SYNCERS = "org.apache.hadoop.mapred.TaskLog$";
  private static final String HADOOPS = "org.apache.hadoop.";

  private final Set<Runnable> before;

  private TaskHooks(Set<Runnable> before) {
    this.before = before;
  }

  /** Remembers the hooks that are registered now. */
  public static TaskHooks now() {
    return new TaskHooks(hooks());
  }

  /**
   * Removes the hooks of log threads that have ended; Hadoop's others stay, as it adds each of them
   * once.
   *
   * @return the class of a hook that is not Hadoop's and was added since; empty when there is none
   */
  public Optional<String> restore() {
    Optional<String> unknown = Optional.empty();
    for (Runnable hook : hooks()) {
      String name = hook.getClass().getName();
      if (name.startsWith(LOG_SYNCERS)) {
        ShutdownHookManager.get().removeShutdownHook(hook);
      } else if (!before.contains(hook) && !name.startsWith(HADOOPS)) {
        unknown = Optional.of(name);
      }
    }
    return unknown;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TaskHooks && before.equals(((TaskHooks) other).before);
  }

  @Override
  public int hashCode() {
    return before.hashCode();
  }

  private static Set<Runnable> hooks() {
    Set<Runnable> hooks = new HashSet<>();
    ShutdownHookManager.get().getShutdownHooksInOrder().forEach(each -> hooks.add(each.getHook()));
    return hooks;
  }
}
