package org.vas.scheduler.sim;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.vas.scheduler.policy.GrantLocality;

/** The outcome of a simulated job; each placed container is one decision. */
final class SimResult {
  private final SimOptions options;
  private final Map<GrantLocality, Integer> placed;
  private final long work;
  private final long virtualMillis;
  private final double seconds;

  SimResult(SimOptions options, Map<GrantLocality, Integer> placed, long work, long virtualMillis,
      long elapsedNanos) {
    this.options = options;
    this.placed = placed;
    this.work = work;
    this.virtualMillis = virtualMillis;
    seconds = (double) elapsedNanos / TimeUnit.SECONDS.toNanos(1);
  }

  int decisions() {
    return placed.values().stream().mapToInt(Integer::intValue).sum();
  }

  int placed(GrantLocality locality) {
    return placed.getOrDefault(locality, 0);
  }

  /** Returns the virtual milliseconds until the last task ended. */
  long virtualMillis() {
    return virtualMillis;
  }

  /** Returns the rows and hosts the policy looked at for one container. */
  double workPerDecision() {
    return (double) work / Math.max(1, decisions());
  }

  String toJson() {
    return String.format(Locale.ROOT,
        "{\"nodes\": %d, \"splits\": %d, \"decisions\": %d, \"decisions_per_second\": %.0f,"
            + " \"data_local\": %d, \"partner_local\": %d, \"other\": %d, \"seconds\": %.3f,"
            + " \"work_per_decision\": %.2f, \"simulated_seconds\": %.0f}",
        options.nodes(), options.splits(), decisions(), decisions() / seconds,
        placed(GrantLocality.LOCAL), placed(GrantLocality.PARTNER), placed(GrantLocality.REMOTE),
        seconds,
        workPerDecision(), virtualMillis / 1e3);
  }
}
