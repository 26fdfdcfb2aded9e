package org.vas.workloads.fault;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** The faults that this process meets. */
final class Faults {
  private final List<FaultPoint> points;

  Faults(Configuration conf) {
    points = FaultPoint.of(conf);
  }

  /** A call is about to be made; throws what it is to fail with. */
  void at(String call, Path path) throws IOException {
    for (FaultPoint point : points) {
      point.at(call, path.toString());
    }
  }

  /** Returns how many of so many bytes a read may ask for; throws what it is to fail with. */
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
