package org.vas.shuffle.reduce;

import java.util.List;
import org.vas.shuffle.mof.SegmentFile;

/** The segments that one intact map has for this reducer, in the order of runs. */
final class FetchedOutput {
  private final List<SegmentFile> segments;

  FetchedOutput(List<SegmentFile> segments) {
    this.segments = List.copyOf(segments);
  }

  List<SegmentFile> segments() {
    return segments;
  }
}
