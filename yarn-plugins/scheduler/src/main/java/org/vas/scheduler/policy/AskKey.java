package org.vas.scheduler.policy;

/** The key of YARN's table of asks: a priority and an allocation request id. */
public final class AskKey {
  private final int priority;
  private final long allocationRequestId;

  public AskKey(int priority, long allocationRequestId) {
    this.priority = priority;
    this.allocationRequestId = allocationRequestId;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof AskKey
        && ((AskKey) other).priority == priority
        && ((AskKey) other).allocationRequestId == allocationRequestId;
  }

  @Override
  public int hashCode() {
    return 31 * priority + Long.hashCode(allocationRequestId);
  }

  /** Returns {@code 20} or, when the application numbers its requests, {@code 20/7}. */
  @Override
  public String toString() {
    return allocationRequestId <= 0 ? "" + priority : priority + "/" + allocationRequestId;
  }
}
