package org.vas.shuffle.site;

import java.util.Random;

/** The kinds of things that happen on a site, each with its frequency. */
enum SiteStep {
  SUBMIT(1), MAP(5), REDUCE(7), COMMIT(3), NEW_MASTER(2), CLEAN_UP(1),
  GUEST_DIES(3), EVACUATE(1), OST_AWAY(1), OSTS_BACK(2),
  PLANT(1), RM_CHANGES(1), TIME(1), JANITOR(2),
  LOG_OPENS(2), LOG_APPENDS(6), RENAMES(2), REPLACES(2);

  private final int weight;

  SiteStep(int weight) {
    this.weight = weight;
  }

  static SiteStep any(Random random) {
    int sum = 0;
    for (SiteStep each : values()) {
      sum += each.weight;
    }
    int at = random.nextInt(sum);
    for (SiteStep each : values()) {
      at -= each.weight;
      if (at < 0) {
        return each;
      }
    }
    throw new IllegalStateException("no step");
  }
}
