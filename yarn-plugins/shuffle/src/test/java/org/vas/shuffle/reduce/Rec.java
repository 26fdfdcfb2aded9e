package org.vas.shuffle.reduce;

import org.apache.hadoop.io.Writable;

/** A record of a test. */
final class Rec {
  private final Writable key;
  private final Writable value;

  Rec(Writable key, Writable value) {
    this.key = key;
    this.value = value;
  }

  Writable key() {
    return key;
  }

  Writable value() {
    return value;
  }

  @Override
  public String toString() {
    return key + "=" + value;
  }
}
