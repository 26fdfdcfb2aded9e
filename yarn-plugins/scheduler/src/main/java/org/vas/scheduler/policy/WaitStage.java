package org.vas.scheduler.policy;

/** How far from its host an ask may be granted; the order is the order of widening. */
public enum WaitStage {
  STRICT,
  PARTNER,
  ANY
}
