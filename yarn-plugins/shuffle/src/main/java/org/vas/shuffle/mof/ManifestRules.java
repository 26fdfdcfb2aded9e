package org.vas.shuffle.mof;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Checks the rules of a manifest as a whole; a single segment is checked where it is made. */
final class ManifestRules {
  /** The most partitions of a manifest: its index has 32 bytes for each, and is made in memory. */
  static final int MOST_PARTITIONS = 1 << 20;

  private static final Comparator<Segment> ORDER =
      Comparator.comparingInt(Segment::partition).thenComparingInt(Segment::run);
  private static final Comparator<Segment> PLACE =
      Comparator.comparingInt(Segment::file).thenComparingLong(Segment::offset);

  private ManifestRules() {}

  /**
   * Checks that the parts of a manifest fit together: names, bounds, and order of segments.
   *
   * @throws IllegalArgumentException that says what does not add up
   */
  static void check(Manifest manifest) {
    require(manifest.partitions() > 0, "no partitions");
    require(manifest.partitions() <= MOST_PARTITIONS, "more than " + MOST_PARTITIONS + " partitions");
    require(manifest.runs() >= 0, "a negative number of runs");
    checkNames(manifest);
    Segment before = null;
    for (Segment segment : manifest.segments()) {
      checkBounds(manifest, segment);
      require(before == null || ORDER.compare(before, segment) < 0, "segments out of order");
      before = segment;
    }
    checkOverlap(manifest.segments());
  }

  private static void checkNames(Manifest manifest) {
    Set<String> names = new HashSet<>();
    for (MofFile file : manifest.files()) {
      require(names.add(file.name()), "two files named " + file.name());
    }
  }

  private static void checkBounds(Manifest manifest, Segment segment) {
    require(segment.partition() < manifest.partitions(), "a segment of no partition");
    require(segment.run() < manifest.runs(), "a segment of no run");
    require(segment.file() < manifest.files().size(), "a segment in no file");
    require(segment.end() <= manifest.files().get(segment.file()).length(),
        "a segment beyond its file's end");
  }

  // The segments of one run are in the order of their places: then sorting looks at each once.
  private static void checkOverlap(List<Segment> segments) {
    List<Segment> placed = new ArrayList<>(segments);
    placed.sort(PLACE);
    for (int i = 1; i < placed.size(); i++) {
      Segment left = placed.get(i - 1);
      Segment right = placed.get(i);
      require(left.file() != right.file() || left.end() <= right.offset(), "segments overlap");
    }
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalArgumentException(otherwise);
    }
  }
}
