package org.vas.workloads.probe;

import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;

/** Makes the records of a probe job: the same for the same configuration, in every process. */
final class Shape {
  private static final int KEY_BYTES = 10;
  private static final int PERCENT = 100;

  private final int records;
  private final int keys;
  private final int leastBytes;
  private final int valueBytes;
  private final int skewPercent;
  private final int everyNthEmpty;

  Shape(Configuration conf) {
    records = ProbeConf.RECORDS.get(conf);
    keys = ProbeConf.KEYS.get(conf);
    valueBytes = Math.toIntExact(ProbeConf.VALUE_BYTES.get(conf));
    leastBytes = Math.min(valueBytes, Math.toIntExact(ProbeConf.LEAST_VALUE_BYTES.get(conf)));
    skewPercent = ProbeConf.SKEW.get(conf);
    everyNthEmpty = ProbeConf.EMPTY_MAPS.get(conf);
  }

  /** Returns how many records a map emits. */
  int records(int map) {
    return everyNthEmpty > 0 && map % everyNthEmpty == 0 ? 0 : records;
  }

  SplittableRandom random(int map) {
    return new SplittableRandom(map);
  }

  /** Draws the next record of a map, and sets key and value to it. */
  void next(SplittableRandom random, BytesWritable key, BytesWritable value) {
    boolean skewed = random.nextInt(PERCENT) < skewPercent;
    fill(new SplittableRandom(skewed ? -1 : random.nextInt(keys)), key, KEY_BYTES);
    fill(random, value, leastBytes + random.nextInt(valueBytes - leastBytes + 1));
  }

  private static void fill(SplittableRandom random, BytesWritable bytes, int length) {
    byte[] data = new byte[length];
    random.nextBytes(data);
    bytes.set(data, 0, length);
  }
}
