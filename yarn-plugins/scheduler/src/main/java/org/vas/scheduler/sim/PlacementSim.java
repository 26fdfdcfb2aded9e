package org.vas.scheduler.sim;

import java.util.List;
import org.vas.scheduler.policy.WaitLimits;

/** {@code vas bench placement}: simulates one job and prints one JSON object. */
public final class PlacementSim {
  private static final int BAD_INPUT = 2;

  private PlacementSim() {}

  public static void main(String[] args) {
    try {
      System.out.println(simulate(SimOptions.parse(List.of(args))).toJson());
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(BAD_INPUT);
    }
  }

  static SimResult simulate(SimOptions options) {
    WaitLimits waits = new WaitLimits(options.nodeWaitMillis(),
        options.partnerWaitMillis(), options.skewWaitMillis());
    return new Simulation(options, waits).run();
  }
}
