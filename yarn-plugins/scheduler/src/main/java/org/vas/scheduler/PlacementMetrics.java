package org.vas.scheduler;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.apache.hadoop.metrics2.lib.MutableQuantiles;
import org.apache.hadoop.metrics2.lib.MutableStat;
import org.vas.scheduler.policy.GrantLocality;
import org.vas.scheduler.policy.PlacementEvent;
import org.vas.scheduler.policy.RemoteCause;

/** The metrics2 source {@code VasPlacement}, also in JMX. */
final class PlacementMetrics implements MetricsSource {
  static final String NAME = "VasPlacement";
  private static final String WAIT = "How long asks waited until they were granted (waited_ms)";
  private static final int QUANTILE_SECONDS = 60;

  private final MetricsRegistry registry =
      new MetricsRegistry(Interns.info(NAME, "Placement of tasks on the VM that owns their split"));
  private final MutableCounterLong asksRewritten =
      registry.newCounter("AsksRewritten", "Rack and ANY rows made strict or relaxed again", 0L);
  private final MutableCounterLong failedOpen =
      registry.newCounter("ApplicationsFailedOpen", "Applications not placed after an error", 0L);
  private final MutableCounterLong notLogged = registry.newCounter(
      "DecisionsNotLogged", "Lines left out of vas.placement because a disk is too slow", 0L);
  private final MutableStat wait =
      registry.newStat("Wait", WAIT, "Grants", "Millis", true);
  private final MutableQuantiles waitQuantiles = registry.newQuantiles(
      "Wait60s", WAIT, "Grants", "Millis", QUANTILE_SECONDS);
  private final Map<GrantLocality, MutableCounterLong> grants = new EnumMap<>(GrantLocality.class);
  private final Map<RemoteCause, MutableCounterLong> relaxations = new EnumMap<>(RemoteCause.class);

  private PlacementMetrics() {
    for (GrantLocality locality : GrantLocality.values()) {
      grants.put(locality, registry.newCounter(
          camel(locality.toString()) + "Grants", "Containers granted " + locality, 0L));
    }
    for (RemoteCause cause : RemoteCause.values()) {
      if (cause != RemoteCause.NONE) {
        relaxations.put(cause, registry.newCounter(
            "Relaxed" + camel(cause.toString()), "Hosts no longer waited for: " + cause, 0L));
      }
    }
  }

  /** Registers the source; one that an earlier life of this ResourceManager left is replaced. */
  static PlacementMetrics register() {
    MetricsSystem metrics = DefaultMetricsSystem.instance();
    metrics.unregisterSource(NAME);
    return metrics.register(NAME, "Placement of tasks", new PlacementMetrics());
  }

  void rewritten(int rows) {
    asksRewritten.incr(rows);
  }

  void failedOpen() {
    failedOpen.incr();
  }

  void decided(PlacementEvent event) {
    if (event.type() != PlacementEvent.Type.STRICT) {
      relaxations.get(event.cause()).incr();
    }
  }

  void leftOutOfLog() {
    notLogged.incr();
  }

  void granted(PlacementEvent event) {
    grants.get(event.locality()).incr();
    wait.add(event.waitedMillis());
    waitQuantiles.add(event.waitedMillis());
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    registry.snapshot(collector.addRecord(registry.info()), all);
  }

  private static String camel(String label) {
    return Pattern.compile("(?:^|-)(.)").matcher(label)
        .replaceAll(start -> start.group(1).toUpperCase(Locale.ROOT));
  }
}
