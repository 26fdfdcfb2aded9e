package org.vas.workloads.fault;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** The faults that the configuration plans for calls of this process. */
final class Faults {
  private final List<FaultPoint> points;

  Faults(Configuration conf) {
    points = FaultPoint.of(conf);
  }

  /**
   * Acts on every fault that is planned for a call which is about to be made.
   *
   * @throws IOException if the call is to fail
   */
  void at(String call, Path path) throws IOException {
    for (FaultPoint point : points) {
      point.at(call, path.toString());
    }
  }

  /**
   * Returns how many bytes a read may ask for.
   *
   * @param wanted bytes that the caller would ask for
   * @throws IOException if the read is to fail
   */
  int read(Path path, int wanted) throws IOException {
    int allowed = wanted;
    for (FaultPoint point : points) {
      if (point.at("read", path.toString()) && point.gives(FaultPoint.SHORT)) {
        allowed = Math.max(1, wanted / 2);
      }
    }
    return allowed;
  }
}
