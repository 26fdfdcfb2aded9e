package org.apache.hadoop.mapred;

import org.vas.app.ContainerCounter;

/** The reason why a JVM must not run another task. */
final class Unfit {
  final ContainerCounter counter;
  private final String why;

  Unfit(ContainerCounter counter, String why) {
    this.counter = counter;
    this.why = why;
  }

  @Override
  public String toString() {
    return why;
  }
}
