package org.vas.shuffle.reduce;

import java.util.List;
import org.vas.shuffle.mof.SegmentFile;

/** What one intact map has for this reducer: its segments in order of runs. */
final class MapOutput {
  private final List<SegmentFile> segments;

  MapOutput(List<SegmentFile> segments) {
    this.segments = List.copyOf(segments);
  }

  List<SegmentFile> segments() {
    return segments;
  }
}
