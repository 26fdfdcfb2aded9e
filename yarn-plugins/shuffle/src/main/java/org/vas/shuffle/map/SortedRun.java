package org.vas.shuffle.map;

import java.util.List;
import org.vas.shuffle.mof.Segment;

/** One sorted run: its segments by partition, and the MOFs that they are in. */
final class SortedRun {
  private final MofSet mofs;
  private final List<Segment> segments;

  SortedRun(MofSet mofs, List<Segment> segments) {
    this.mofs = mofs;
    this.segments = segments;
  }

  MofSet mofs() {
    return mofs;
  }

  List<Segment> segments() {
    return segments;
  }

  /** Returns the number of the run; a run with a lower one was emitted earlier. */
  int number() {
    return segments.get(0).run();
  }

  long records() {
    return segments.stream().mapToLong(Segment::records).sum();
  }

  long storedBytes() {
    return segments.stream().mapToLong(Segment::storedBytes).sum();
  }
}
