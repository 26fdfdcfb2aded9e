package org.vas.shuffle.map;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.vas.shuffle.mof.MofFile;
import org.vas.shuffle.mof.Segment;

/**
 * The MOFs that an attempt has made, each by a place of its own; the place of a deleted one stays
 * empty.
 */
final class MofTable {
  private final List<MofFile> files = new ArrayList<>();

  /** Returns the place of the next new file. */
  int next() {
    return files.size();
  }

  /**
   * Sets the description of the file at a place: the next new place, or that of a file in the
   * table.
   */
  void set(int index, MofFile file) {
    if (index == files.size()) {
      files.add(file);
    } else {
      files.set(index, file);
    }
  }

  MofFile get(int index) {
    return files.get(index);
  }

  void delete(int index) {
    files.set(index, null);
  }

  /** Returns the MOFs that were not deleted, in the order of their places. */
  List<MofFile> present() {
    return files.stream().filter(Objects::nonNull).collect(Collectors.toList());
  }

  /** Returns the segments of runs in order, with run and file numbered as a manifest has them. */
  List<Segment> renumbered(List<SortedRun> runs) {
    int[] places = new int[files.size()];
    Arrays.setAll(places, i -> i == 0 ? 0 : files.get(i - 1) == null ? 0 : 1);
    Arrays.parallelPrefix(places, Integer::sum);
    List<Segment> found = new ArrayList<>();
    for (int run = 0; run < runs.size(); run++) {
      for (Segment segment : runs.get(run).segments()) {
        found.add(segment.renumbered(run, places[segment.file()]));
      }
    }
    return found;
  }
}
