package org.vas.scheduler.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.vas.scheduler.PlacementConf;
import org.vas.scheduler.policy.GrantLocality;

class PlacementSimTest {
  private static final long WAITS_AND_LAST_MAPS = 25_000 + 30_000;

  private static SimResult simulate(String options) {
    return PlacementSim.simulate(SimOptions.parse(List.of(options.split(" ", -1))));
  }

  @Test
  void placesEverySplitOnItsHostWhenNothingIsInTheWay() {
    SimResult result = simulate("--nodes 100 --splits 4000");
    assertEquals(4000, result.decisions());
    assertTrue(result.placed(GrantLocality.LOCAL) >= 3920, result.toJson());
  }

  /** The simulator runs without Hadoop's jars, and so has the defaults of the keys once more. */
  @Test
  void itsWaitsAreThoseOfThePlugin() {
    SimOptions options = SimOptions.parse(List.of());
    Configuration defaults = new Configuration(false);
    assertEquals(PlacementConf.NODE_WAIT.get(defaults).toMillis(), options.nodeWaitMillis());
    assertEquals(PlacementConf.SKEW_WAIT.get(defaults).toMillis(), options.skewWaitMillis());
    assertEquals(PlacementConf.PARTNER_WAIT.get(defaults).toMillis(), options.partnerWaitMillis());
  }

  @Test
  void theJobLastsUntilItsLastTaskEnds() {
    SimResult result = simulate("--nodes 1 --splits 1");
    assertTrue(result.virtualMillis() >= 1_000 + 10_000, result.toJson());
  }

  @Test
  void finishesWithDeadAndSlowNodes() {
    SimResult result = simulate("--nodes 40 --splits 2000 --dead 5 --slow 4 --uneven 1");
    assertEquals(2000, result.decisions());
    assertTrue(result.placed(GrantLocality.PARTNER) > 0, result.toJson());
    assertTrue(result.placed(GrantLocality.REMOTE) > 0, result.toJson());
  }

  /** Remote reads cost nothing here: the worst case for waiting. */
  @ParameterizedTest
  @ValueSource(strings = {
    "--nodes 20 --splits 400 --skew 2", "--nodes 20 --splits 400 --skew 1",
    "--nodes 100 --splits 10000 --skew 5", "--nodes 20 --splits 2000 --skew 10 --uneven 1",
    "--nodes 20 --splits 2000", "--nodes 20 --splits 2000 --slow 2"})
  void takesNoMoreThanTheTwoWaitsLongerThanWithoutPlacement(String job) {
    SimResult placed = simulate(job);
    SimResult free = simulate(job + " --node-wait-ms 0 --partner-wait-ms 0");
    assertTrue(placed.virtualMillis() <= free.virtualMillis() + WAITS_AND_LAST_MAPS,
        placed.toJson() + free.toJson());
  }

  /** Few nodes have all splits, in one wave of the cluster's slots and in four. */
  @ParameterizedTest
  @ValueSource(strings = {
    "--nodes 22 --splits 88 --skew 4", "--nodes 22 --splits 352 --skew 4",
    "--nodes 4 --splits 16 --skew 1"})
  void aSkewedJobHardlyWaits(String job) {
    String free = job + " --node-wait-ms 0 --partner-wait-ms 0";
    long placed = 0;
    long withoutWaits = 0;
    long asAnyOther = 0;
    for (int seed = 1; seed <= 5; seed++) {
      placed += simulate(job + " --seed " + seed).virtualMillis();
      withoutWaits += simulate(free + " --seed " + seed).virtualMillis();
      asAnyOther += simulate(job + " --skew-wait-ms 20000 --seed " + seed).virtualMillis();
    }
    assertTrue(placed <= 1.1 * withoutWaits, placed + " against " + withoutWaits);
    assertTrue(asAnyOther > 1.1 * withoutWaits, asAnyOther + " against " + withoutWaits);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--nodes 4 --splits 64", "--nodes 22 --splits 352"})
  void aBalancedJobIsAsLocalAsWithoutTheWaitForSkew(String job) {
    assertEquals(simulate(job + " --skew-wait-ms 20000").placed(GrantLocality.LOCAL),
        simulate(job).placed(GrantLocality.LOCAL));
  }

  @Test
  void tasksAwayFromTheirSplitsTakeLongerByWhatIsSaid() {
    String job = "--nodes 20 --splits 400 --skew 2 --node-wait-ms 0 --partner-wait-ms 0";
    assertTrue(simulate(job + " --remote-extra 100").virtualMillis()
        > 1.3 * simulate(job).virtualMillis());
  }

  @Test
  void smallBalancedJobsAreLocal() {
    int local = IntStream.range(1, 21)
        .map(seed -> simulate("--nodes 4 --slots 2 --splits 48 --seed " + seed)
            .placed(GrantLocality.LOCAL))
        .sum();
    assertTrue(local >= 0.98 * 20 * 48, local + " of " + 20 * 48);
  }

  @Test
  void finishesWithoutAnyWait() {
    assertEquals(500, simulate("--nodes 10 --splits 500 --node-wait-ms 0 --partner-wait-ms 0")
        .decisions());
  }

  @Test
  void looksAtTheSameNumberOfRowsPerContainerHoweverManySplits() {
    double few = simulate("--nodes 250 --splits 6250").workPerDecision();
    double many = simulate("--nodes 250 --splits 25000").workPerDecision();
    assertTrue(many < 1.5 * few, few + " -> " + many);
  }

  @Test
  void looksAtTheSameNumberOfRowsPerContainerHoweverManyNodes() {
    double few = simulate("--nodes 100 --splits 10000").workPerDecision();
    double many = simulate("--nodes 400 --splits 40000").workPerDecision();
    assertTrue(many < 1.5 * few, few + " -> " + many);
  }

  @Test
  void isTheSameForTheSameSeed() {
    String job = "--nodes 20 --splits 500 --uneven 1 --seed 7";
    assertEquals(
        simulate(job).placed(GrantLocality.LOCAL), simulate(job).placed(GrantLocality.LOCAL));
  }

  @Test
  void refusesAnOptionItDoesNotKnow() {
    assertThrows(IllegalArgumentException.class, () -> SimOptions.parse(List.of("--node", "1")));
  }
}
