package org.vas.shuffle.reduce;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.Text;
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

  /** Records with keys of a few characters, some of them equal. */
  static List<Rec> random(Random random, int count) {
    List<Rec> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String key = Integer.toString(random.nextInt(1 << random.nextInt(20)), 36);
      records.add(new Rec(new Text(key), new Text("v" + i + "x".repeat(random.nextInt(30)))));
    }
    return records;
  }
}
