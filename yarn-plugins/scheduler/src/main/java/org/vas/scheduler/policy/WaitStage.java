package org.vas.scheduler.policy;

/**
 * The distance from its host at which an ask may be granted; the order is the order of widening.
 */
public enum WaitStage {
  STRICT,
  PARTNER,
  ANY
}
